/**
 * The words of a home's memories, in this process's memory alone. SQLite's FTS5 keeps which word
 * stands where, without the texts; what a ranking needs beside it is kept here.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { isPinned } from '../change.ts'
import { indexable, tokensOf } from './tokens.ts'

export interface IndexedMemory {
  readonly key: string
  readonly text: string
  /** JSON. */
  readonly metadata: string
  readonly updatedAt: number
}

export interface Doc {
  readonly id: number
  readonly key: string
  /** Characters of text and metadata. */
  readonly length: number
  readonly updatedAt: number
  readonly pinned: boolean
}

/** A word at a place of a memory, as one number: thousands of them are read at once. */
export type Posting = number

/** Beyond the words of any key, text or metadata; after the key come the text and the metadata. */
const PLACES_IN_COLUMN = 65_536
const PLACES_IN_MEMORY = 4 * PLACES_IN_COLUMN

export const docIdOf = (posting: Posting): number => Math.floor(posting / PLACES_IN_MEMORY)

/** Words that stand together have places that do, in one column. */
export const placeOf = (posting: Posting): number => posting % PLACES_IN_MEMORY

export const isInKey = (place: number): boolean => place < PLACES_IN_COLUMN

const PLACE = `CASE col WHEN 'key' THEN 0 WHEN 'text' THEN ${PLACES_IN_COLUMN}
  ELSE ${2 * PLACES_IN_COLUMN} END + offset`

/** As JSON: rows of their own take the driver three times as long. */
const POSTINGS = `
  SELECT json_group_array(posting) FROM (
    SELECT doc * ${PLACES_IN_MEMORY} + ${PLACE} AS posting FROM postings WHERE term = ? LIMIT +?
  )`

/** The `ascii` tokenizer takes all that is not ASCII for letters: `indexable` has parted it. */
const SCHEMA = `
  CREATE VIRTUAL TABLE words USING fts5
    (key, text, metadata, content = '', contentless_delete = 1, tokenize = 'ascii');
  CREATE VIRTUAL TABLE terms USING fts5vocab (words, row);
  CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);`

/** Of what is being built, FTS5 keeps so much before it sorts it in: an eighth of the time. */
const HASH_BYTES = 8 * 1_048_576
const DEFAULT_HASH_BYTES = 1_048_576
const DEFAULT_MERGE = 4

/** What a memory takes here, roughly, beside FTS5's pages. */
const DOC_BYTES = 256

/** Beyond any word: nothing that is longer is looked for by its parts. */
const LONGEST_TERM = 40

/** Terms that begin alike, and terms of which some may hold a word: what one look goes through. */
export const MOST_ALIKE = 2_000
const MOST_TERMS = 200_000
const TERMS_PER_TURN = 5_000

/** Appended terms, in characters, after which the list is made anew. */
const MOST_APPENDED = 262_144

const LAST = '\u{10ffff}'

/** Reads all rows of a statement, as tuples. */
function tuples<Values extends (string | number)[], Row>(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (...values: Values): Row[] => statement.all(...values) as unknown as Row[]
}

/** A client may spell as escapes what others write as it is. */
const unescaped = (metadata: string): string =>
  metadata.includes('\\') ? JSON.stringify(JSON.parse(metadata)) : metadata

/** Terms that may be there, each on a line of its own, between newlines. */
class Vocabulary {
  #list: string | undefined
  #appended = 0
  /** A list that is made while something is put lacks it. */
  #puts = 0
  readonly #listed: (after: string, most: number) => [string][]

  constructor(db: DatabaseSync) {
    this.#listed = tuples(db, 'SELECT term FROM terms WHERE term > ? LIMIT +?')
  }

  /** Terms that are gone stay: whatever is looked up by them is found nowhere. */
  append({ key, text, metadata }: IndexedMemory): void {
    this.#puts++
    if (this.#list === undefined) return
    const tokens = new Set([key, text, unescaped(metadata)].flatMap(tokensOf))
    const added = [...tokens].filter((token) => token.length <= LONGEST_TERM).join('\n')
    this.#list += `${added}\n`
    this.#appended += added.length
    if (this.#appended > MOST_APPENDED) this.#list = undefined
  }

  async read(turn: () => Promise<void>): Promise<string> {
    if (this.#list !== undefined) return this.#list
    const puts = this.#puts
    let list = '\n'
    let after = ''
    for (let count = 0; count < MOST_TERMS; count += TERMS_PER_TURN) {
      const terms = this.#listed(after, TERMS_PER_TURN)
      for (const [term] of terms) if (term.length <= LONGEST_TERM) list += `${term}\n`
      if (terms.length < TERMS_PER_TURN) break
      after = terms.at(-1)?.[0] ?? after
      await turn()
    }
    if (puts !== this.#puts) return list
    this.#appended = 0
    this.#list = list
    return list
  }

  get bytes(): number {
    return 2 * (this.#list?.length ?? 0)
  }
}

export class HomeIndex {
  readonly #db = new DatabaseSync(':memory:')
  readonly #docs = new Map<number, Doc>()
  readonly #ids = new Map<string, number>()
  #lastId = 0
  #length = 0
  readonly #vocabulary: Vocabulary
  readonly #insert: StatementSync
  readonly #drop: StatementSync
  readonly #configure: StatementSync
  readonly #pages: () => [number][]
  readonly #alike: (from: string, to: string, most: number) => [string][]
  readonly #postings: (term: string, most: number) => [string][]
  readonly #having: (term: string) => [number][]
  readonly #matching: (expression: string) => [number][]

  constructor() {
    const db = this.#db
    db.exec(SCHEMA)
    this.#vocabulary = new Vocabulary(db)
    this.#insert = db.prepare('INSERT INTO words (rowid, key, text, metadata) VALUES (?, ?, ?, ?)')
    this.#drop = db.prepare('DELETE FROM words WHERE rowid = ?')
    // What FTS5 writes then is numbered beyond what a number holds, and the driver tells it.
    this.#drop.setReadBigInts(true)
    this.#configure = db.prepare('INSERT INTO words (words, rank) VALUES (?, CAST(? AS INTEGER))')
    this.#pages = tuples(
      db,
      'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size',
    )
    this.#alike = tuples(db, 'SELECT term FROM terms WHERE term >= ? AND term < ? LIMIT +?')
    this.#postings = tuples(db, POSTINGS)
    this.#having = tuples(db, 'SELECT doc FROM terms WHERE term = ?')
    this.#matching = tuples(db, 'SELECT rowid FROM words WHERE words MATCH ?')
  }

  get docs(): ReadonlyMap<number, Doc> {
    return this.#docs
  }

  /** Characters. */
  get averageLength(): number {
    return this.#length / this.#docs.size
  }

  put(memory: IndexedMemory): void {
    const { key, updatedAt } = memory
    this.remove(key)
    const [text, metadata] = [indexable(memory.text), indexable(unescaped(memory.metadata))]
    const id = ++this.#lastId
    const length = text.length + metadata.length
    this.#insert.run(id, indexable(key), text, metadata)
    this.#docs.set(id, { id, key, length, updatedAt, pinned: isPinned(memory.metadata) })
    this.#ids.set(key, id)
    this.#length += length
    this.#vocabulary.append(memory)
  }

  remove(key: string): void {
    const id = this.#ids.get(key)
    if (id === undefined) return
    this.#drop.run(id)
    this.#length -= this.#docs.get(id)?.length ?? 0
    this.#docs.delete(id)
    this.#ids.delete(key)
  }

  /** Puts many: nothing else may be done with the index meanwhile. */
  async fill<T>(work: () => Promise<T>): Promise<T> {
    this.#configure.run('hashsize', HASH_BYTES)
    this.#configure.run('automerge', 0)
    this.#db.exec('BEGIN')
    const result = await work()
    this.#db.exec('COMMIT')
    this.#configure.run('hashsize', DEFAULT_HASH_BYTES)
    this.#configure.run('automerge', DEFAULT_MERGE)
    return result
  }

  /** The first terms, in their order, that begin so. */
  termsFrom(beginning: string): string[] {
    return this.#alike(beginning, beginning + LAST, MOST_ALIKE).map(([term]) => term)
  }

  /** In the order of the memories' ids. */
  postings(term: string, most: number): Posting[] {
    const [[postings] = ['[]']] = this.#postings(term, most)
    return JSON.parse(postings)
  }

  /** How many memories have the term. */
  memoriesWith(term: string): number {
    const [[memories] = [0]] = this.#having(term)
    return memories
  }

  /** Ids of what an expression of FTS5 matches. */
  matching(expression: string): Set<number> {
    return new Set(this.#matching(expression).map(([id]) => id))
  }

  /** Terms that may be there, each on a line of its own, between newlines. */
  vocabulary(turn: () => Promise<void>): Promise<string> {
    return this.#vocabulary.read(turn)
  }

  /** What it takes of this process's memory, nearly. */
  get bytes(): number {
    const [[pages] = [0]] = this.#pages()
    return pages + this.#docs.size * DOC_BYTES + this.#vocabulary.bytes
  }

  close(): void {
    this.#db.close()
  }
}
