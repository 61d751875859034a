/**
 * The words of a home's memories, in this process's memory alone: each memory as the numbers of its
 * terms. A search looks through all of them, a million in two milliseconds, so that nothing has to
 * be sorted, merged or taken apart when a memory is written.
 */
import { isPinned } from '../change.ts'
import { Lexicon, NO_TERM } from './lexicon.ts'
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
  /** Numbers of the terms of key, text and metadata, with a gap between them. */
  readonly tokens: Int32Array
  /** So many of them are of the key. */
  readonly keyTokens: number
}

/** What a memory takes here, roughly, beside its terms. */
const DOC_BYTES = 320
const TOKEN_BYTES = Int32Array.BYTES_PER_ELEMENT

/** Terms that are looked at without a pause. */
const TOKENS_PER_TURN = 16_384

/** Terms of texts that were replaced, until the index is better built anew: it keeps their names. */
const MOST_REPLACED = 1_000_000

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

/** The most that is looked at of a home's memories, so it calls nothing else. */
function visitIn(doc: Doc, asked: Uint16Array, visit: Visit): void {
  const { tokens } = doc
  for (let place = 0; place < tokens.length; place++) {
    const term = asked[tokens[place] ?? 0] ?? 0
    if (term !== 0) visit(term - 1, doc, place)
  }
}

/** Whether some terms are there one after the other. */
function hasPhrase(tokens: Int32Array, phrase: readonly number[]): boolean {
  const [first = 0] = phrase
  for (let at = tokens.indexOf(first); at >= 0; at = tokens.indexOf(first, at + 1)) {
    if (phrase.every((term, offset) => tokens[at + offset] === term)) return true
  }
  return false
}

/** Sees the term that is at `at` of the list at a place of a memory. */
export type Visit = (at: number, doc: Doc, place: number) => void

export class HomeIndex {
  readonly #docs = new Map<number, Doc>()
  readonly #ids = new Map<string, number>()
  readonly #lexicon = new Lexicon()
  readonly #vocabulary = new Vocabulary(this.#lexicon)
  #lastId = 0
  #length = 0
  #tokens = 0
  #replaced = 0

  get docs(): ReadonlyMap<number, Doc> {
    return this.#docs
  }

  /** Characters. */
  get averageLength(): number {
    return this.#length / this.#docs.size
  }

  /** So much of it was replaced that it is better built anew. */
  get isWorn(): boolean {
    return this.#replaced > MOST_REPLACED + this.#tokens
  }

  /** A memory keeps its id, so that a search that goes on meanwhile does not lose it. */
  put({ key, updatedAt, ...memory }: IndexedMemory): void {
    const texts = [readable(memory.text), unescaped(memory.metadata)].map(indexable)
    const id = this.#ids.get(key) ?? ++this.#lastId
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    const tokens = this.#lexicon.tokensOf([indexable(key), ...texts])
    const keyTokens = tokens.indexOf(NO_TERM)
    this.#take(id)
    const pinned = isPinned(memory.metadata)
    this.#docs.set(id, { id, key, length, updatedAt, pinned, tokens, keyTokens })
    this.#ids.set(key, id)
    this.#length += length
    this.#tokens += tokens.length
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
    this.#length -= doc.length
    this.#tokens -= doc.tokens.length
    this.#replaced += doc.tokens.length
  }

  /** Visits every place of some terms, or those in some memories. */
  async visit(
    terms: readonly string[],
    visit: Visit,
    turn: Turn,
    isAsked: (doc: Doc) => boolean = () => true,
  ): Promise<void> {
    /** Of each number, the place of its term in the list, from 1 on. */
    const asked = new Uint16Array(this.#lexicon.size)
    for (const [at, term] of terms.entries()) asked[this.#lexicon.numberOf(term)] = at + 1
    asked[NO_TERM] = 0
    await this.#each(turn, (doc) => {
      if (isAsked(doc)) visitIn(doc, asked, visit)
    })
  }

  /** Ids of memories with some terms one after the other. */
  async withPhrase(
    terms: readonly string[],
    turn: Turn,
    isAsked: (doc: Doc) => boolean,
  ): Promise<ReadonlySet<number>> {
    const phrase = terms.map((term) => this.#lexicon.numberOf(term))
    const found = new Set<number>()
    if (phrase.includes(NO_TERM)) return found
    await this.#each(turn, (doc) => {
      if (isAsked(doc) && hasPhrase(doc.tokens, phrase)) found.add(doc.id)
    })
    return found
  }

  async #each(turn: Turn, look: (doc: Doc) => void): Promise<void> {
    let looked = 0
    for (const doc of this.#docs.values()) {
      look(doc)
      looked += doc.tokens.length
      if (looked < TOKENS_PER_TURN) continue
      looked = 0
      await turn()
    }
  }

  /** Terms that may be there. */
  terms(turn: Turn): Promise<Terms> {
    return this.#vocabulary.read(turn)
  }

  /** What it takes of this process's memory, nearly. */
  get bytes(): number {
    const docs = this.#docs.size * DOC_BYTES + this.#tokens * TOKEN_BYTES
    return docs + this.#lexicon.bytes + this.#vocabulary.bytes
  }
}
