/**
 * The words of a home's memories, in this process's memory alone. SQLite's FTS5 keeps which word
 * stands where, without the texts; what a ranking needs beside it is kept here.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { isPinned } from '../change.ts'
import { indexable } from './tokens.ts'
import { type Terms, type Turn, Vocabulary } from './vocabulary.ts'

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

/**
 * While much is put, FTS5 keeps so much before it sorts it in, and merges nothing: it would do it
 * all at once. It is told to afterwards, some pages at a time.
 */
const FILLING = { hashsize: 2 * 1_048_576, automerge: 0, crisismerge: 1_999, usermerge: 2 }
const KEEPING = { hashsize: 1_048_576, automerge: 4, crisismerge: 16, usermerge: 4 }
const PAGES_PER_TURN = 128

/** What a memory takes here, roughly, beside FTS5's pages. */
const DOC_BYTES = 256

/** Reads all rows of a statement, as tuples. */
function tuples<Values extends (string | number)[], Row>(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (...values: Values): Row[] => statement.all(...values) as unknown as Row[]
}

const ESCAPE = /\\(?:u([\da-fA-F]{4})|(.))/gs

/** JSON as people read it: the `n` of a line's end belongs to no word. */
const unescaped = (json: string): string =>
  json.replace(ESCAPE, (_, code: string | undefined, letter: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return 'bfnrt'.includes(letter) ? ' ' : letter
  })

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Programs keep their values as JSON too. */
const readable = (text: string): string =>
  /^[[{]/.test(text) && text.includes('\\') && isJson(text) ? unescaped(text) : text

export class HomeIndex {
  readonly #db = new DatabaseSync(':memory:')
  readonly #docs = new Map<number, Doc>()
  readonly #ids = new Map<string, number>()
  #lastId = 0
  #length = 0
  #isInPieces = false
  readonly #vocabulary: Vocabulary
  readonly #insert: StatementSync
  readonly #drop: StatementSync
  readonly #configure: StatementSync
  readonly #pages: () => [number][]
  readonly #postings: (term: string, most: number) => [string][]
  readonly #having: (term: string) => [number][]
  readonly #matching: (expression: string, from: number, to: number) => [number][]
  readonly #changes: () => [number][]

  constructor() {
    const db = this.#db
    // Nothing that fails is kept, so nothing needs to be undone.
    db.exec('PRAGMA journal_mode = OFF')
    db.exec(SCHEMA)
    this.#vocabulary = new Vocabulary(
      tuples(db, 'SELECT term FROM terms WHERE term > ? AND term < ? LIMIT +?'),
    )
    this.#insert = db.prepare('INSERT INTO words (rowid, key, text, metadata) VALUES (?, ?, ?, ?)')
    this.#drop = db.prepare('DELETE FROM words WHERE rowid = ?')
    // What FTS5 writes then is numbered beyond what a number holds, and the driver tells it.
    this.#drop.setReadBigInts(true)
    this.#configure = db.prepare('INSERT INTO words (words, rank) VALUES (?, CAST(? AS INTEGER))')
    this.#pages = tuples(
      db,
      'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size',
    )
    this.#postings = tuples(db, POSTINGS)
    this.#having = tuples(db, 'SELECT doc FROM terms WHERE term = ?')
    // FTS5 begins at the first id, and ends at the last, only where they are integers.
    this.#matching = tuples(
      db,
      `SELECT rowid FROM words WHERE words MATCH ?
       AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
    )
    this.#changes = tuples(db, 'SELECT total_changes()')
  }

  get docs(): ReadonlyMap<number, Doc> {
    return this.#docs
  }

  /** Characters. */
  get averageLength(): number {
    return this.#length / this.#docs.size
  }

  /** A memory keeps its id, so that a search that goes on meanwhile does not lose it. */
  put({ key, updatedAt, ...memory }: IndexedMemory): void {
    const [text, metadata] = [readable(memory.text), unescaped(memory.metadata)]
    const texts = [text, metadata].map(indexable)
    const id = this.#ids.get(key) ?? ++this.#lastId
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    this.#take(id)
    this.#insert.run(id, indexable(key), ...texts)
    this.#docs.set(id, { id, key, length, updatedAt, pinned: isPinned(memory.metadata) })
    this.#ids.set(key, id)
    this.#length += length
    this.#vocabulary.add(key, text, metadata)
  }

  remove(key: string): void {
    const id = this.#ids.get(key)
    if (id === undefined) return
    this.#take(id)
    this.#docs.delete(id)
    this.#ids.delete(key)
  }

  #take(id: number): void {
    const doc = this.#docs.get(id)
    if (!doc) return
    this.#drop.run(id)
    this.#length -= doc.length
  }

  /** Puts many: nothing else may be done with the index meanwhile. It is in pieces then. */
  async fill<T>(work: () => Promise<T>): Promise<T> {
    this.#isInPieces = true
    this.#tune(FILLING)
    this.#db.exec('BEGIN')
    const result = await work()
    this.#db.exec('COMMIT')
    return result
  }

  /** Puts pieces together, which any other work may go on beside: searches take less time then. */
  async merge(turn: Turn, mayGoOn: () => boolean): Promise<void> {
    if (!this.#isInPieces) return
    this.#isInPieces = false
    for (await turn(); mayGoOn(); await turn()) {
      const before = this.#changed()
      this.#configure.run('merge', PAGES_PER_TURN)
      if (this.#changed() - before < 2) return this.#tune(KEEPING)
    }
  }

  #tune(options: Readonly<Record<string, number>>): void {
    for (const [option, value] of Object.entries(options)) this.#configure.run(option, value)
  }

  #changed(): number {
    const [[changes] = [0]] = this.#changes()
    return changes
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

  /** Ids, from one to another, of what an expression of FTS5 matches. */
  matching(expression: string, from: number, to: number): readonly number[] {
    return this.#matching(expression, from, to).map(([id]) => id)
  }

  /** Terms that may be there. */
  terms(turn: Turn): Promise<Terms> {
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
