/**
 * The index of a home's memories, only in memory: each memory as an array of term numbers. A search
 * scans all of them, a million terms in two milliseconds, so that nothing has to be sorted or
 * merged when a memory changes.
 */
import { isPinned } from '../change.ts'
import { calendarValue, daysIn, mayBeInDay, termsOfDays } from './days.ts'
import { GAP, grown, Lexicon, NO_TERM } from './lexicon.ts'
import { Sequences } from './sequences.ts'
import { indexable } from './tokens.ts'
import { Vectors } from './vector-index.ts'
import { type Terms, type Turn, Vocabulary } from './vocabulary.ts'

export interface IndexedMemory {
  readonly key: string
  readonly text: string
  /** JSON. */
  readonly metadata: string
  readonly version: number
  readonly updatedAt: number
  readonly createdAt: number
}

export interface Doc {
  readonly id: number
  readonly key: string
  readonly version: number
  /** Characters of text and metadata. */
  readonly length: number
  /** Of the text, UTF-8. */
  readonly bytes: number
  readonly updatedAt: number
  readonly createdAt: number
  readonly pinned: boolean
  /** Term numbers of key, text and metadata, separated by gaps. */
  readonly tokens: Int32Array
  /** The number of terms in the key. */
  readonly keyTokens: number
  /** Terms before this place are in the text's label (`Dana: …`), or in the key. */
  readonly labelTokens: number
  /** Terms from this place on are in the metadata. */
  readonly metadataAt: number
  /** Whether the text or the metadata says who speaks. */
  readonly isSpoken: boolean
}

/** In the metadata, who speaks. */
const SPEAKER = /"(?:role|speaker|author|sender|from)"\s*:\s*"/

/** Who or what a text is about, before a colon. */
const LABEL = /^\s*([\p{L}\p{N}][\p{L}\p{M}\p{N} .'’_-]{0,39}):\s/u

/** Approximate bytes per memory, without its terms. */
const DOC_BYTES = 360
const TOKEN_BYTES = Int32Array.BYTES_PER_ELEMENT

/** Terms that are scanned without a pause. */
const TOKENS_PER_TURN = 16_384

/** Replaced terms after which the index is rebuilt, because their names stay in it. */
const MOST_REPLACED = 1_000_000

const ESCAPE = /\\(?:u([\da-fA-F]{4})|(.))/gs

/** Indented JSON: the `n` of an escaped line break belongs to no word. */
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

/** Programs also store values as JSON. */
const readable = (text: string): string =>
  /^[[{]/.test(text) && text.includes('\\') && isJson(text) ? unescaped(text) : text

/** The inner loop of a scan, which calls no functions. */
function visitIn(doc: Doc, asked: Uint16Array, visit: Visit): void {
  const { tokens } = doc
  for (let place = 0; place < tokens.length; place++) {
    const term = asked[tokens[place] ?? 0] ?? 0
    if (term !== 0) visit(term - 1, doc, place)
  }
}

/** Whether one of the terms for each place occurs after one for the place before. */
function hasPhrase(tokens: Int32Array, phrase: readonly ReadonlySet<number>[]): boolean {
  for (const first of phrase[0] ?? []) {
    for (let at = tokens.indexOf(first); at >= 0; at = tokens.indexOf(first, at + 1)) {
      if (phrase.every((terms, offset) => terms.has(tokens[at + offset] ?? NO_TERM))) return true
    }
  }
  return false
}

/** Called for the term at index `at` of the list, at a position of a memory. */
export type Visit = (at: number, doc: Doc, place: number) => void

export class HomeIndex {
  readonly #docs = new Map<number, Doc>()
  readonly #ids = new Map<string, number>()
  readonly #lexicon = new Lexicon()
  readonly #vocabulary = new Vocabulary(this.#lexicon)
  readonly vectors = new Vectors()
  readonly sequences = new Sequences<Doc>()
  /** The part of each term in a date, up to the last that was learnt. */
  #calendar = new Int32Array(256)
  #learnt = 1
  #lastId = 0
  #length = 0
  #tokens = 0
  #replaced = 0

  get docs(): ReadonlyMap<number, Doc> {
    return this.#docs
  }

  /** Every memory's number is lower. */
  get numbers(): number {
    return this.#lastId + 1
  }

  docOf(key: string): Doc | undefined {
    return this.#docs.get(this.#ids.get(key) ?? 0)
  }

  /** Characters. */
  get averageLength(): number {
    return this.#length / this.#docs.size
  }

  /** So many terms were replaced that the index should be rebuilt. */
  get isFragmented(): boolean {
    return this.#replaced > MOST_REPLACED + this.#tokens
  }

  /** A memory keeps its number, so that a concurrent search does not lose it. */
  put({ key, version, updatedAt, createdAt, ...memory }: IndexedMemory): void {
    const texts = [readable(memory.text), unescaped(memory.metadata)].map(indexable)
    const id = this.#ids.get(key) ?? ++this.#lastId
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    const said = this.#lexicon.tokensOf([indexable(key), ...texts])
    const places = this.#placesIn(said, memory)
    const tokens = this.#withDays(said, updatedAt)
    this.#take(id)
    const pinned = isPinned(memory.metadata)
    const bytes = Buffer.byteLength(memory.text)
    const times = { updatedAt, createdAt }
    const doc = { id, key, version, length, bytes, ...times, pinned, tokens, ...places }
    this.#docs.set(id, doc)
    this.sequences.put(doc)
    this.#ids.set(key, id)
    this.vectors.keepFrom(key, version)
    this.#length += length
    this.#tokens += tokens.length
  }

  #placesIn(said: Int32Array, { text, metadata }: Pick<IndexedMemory, 'text' | 'metadata'>) {
    const keyTokens = said.indexOf(NO_TERM)
    const [, label = ''] = LABEL.exec(text) ?? []
    const labelled = label && this.#lexicon.tokensOf([indexable(label)]).length + GAP
    return {
      keyTokens,
      labelTokens: keyTokens + Number(labelled),
      metadataAt: said.lastIndexOf(NO_TERM) + 1,
      isSpoken: label !== '' || SPEAKER.test(metadata),
    }
  }

  /** With terms for the days that it says, and for that of its writing. */
  #withDays(said: Int32Array, written: number): Int32Array {
    const lexicon = this.#lexicon
    if (lexicon.size > this.#calendar.length) this.#calendar = grown(this.#calendar, lexicon.size)
    const calendar = this.#calendar
    for (; this.#learnt < lexicon.size; this.#learnt++) {
      const term = this.#learnt
      const byteAt = (at: number) => lexicon.byteOf(term, at)
      if (!mayBeInDay(byteAt(0), byteAt(1), byteAt(2), lexicon.lengthOf(term))) continue
      calendar[term] = calendarValue(lexicon.nameOf(term))
    }
    const terms = lexicon.tokensOf([termsOfDays(daysIn(said, calendar), written).join(' ')])
    const tokens = new Int32Array(said.length + terms.length)
    tokens.set(said)
    tokens.set(terms, said.length)
    return tokens
  }

  remove(key: string): void {
    const id = this.#ids.get(key)
    if (id === undefined) return
    this.#take(id)
    this.#docs.delete(id)
    this.#ids.delete(key)
    this.vectors.keepFrom(key, Number.POSITIVE_INFINITY)
  }

  #take(id: number): void {
    const doc = this.#docs.get(id)
    if (!doc) return
    this.sequences.remove(doc)
    this.#length -= doc.length
    this.#tokens -= doc.tokens.length
    this.#replaced += doc.tokens.length
  }

  /** Visits all positions of some terms, or those in some memories. */
  async visit(
    terms: readonly string[],
    visit: Visit,
    turn: Turn,
    isAsked: (doc: Doc) => boolean = () => true,
  ): Promise<void> {
    /** For each term number, its position in the list plus one. */
    const asked = new Uint16Array(this.#lexicon.size)
    for (const [at, term] of terms.entries()) asked[this.#lexicon.numberOf(term)] = at + 1
    asked[NO_TERM] = 0
    await this.#each(turn, (doc) => {
      if (isAsked(doc)) visitIn(doc, asked, visit)
    })
  }

  /** Numbers of the memories that contain the terms one after the other, each in some spelling. */
  async withPhrase(
    terms: readonly (readonly string[])[],
    turn: Turn,
    isAsked: (doc: Doc) => boolean,
  ): Promise<ReadonlySet<number>> {
    const phrase = terms.map((all) => new Set(all.map((term) => this.#lexicon.numberOf(term))))
    for (const numbers of phrase) numbers.delete(NO_TERM)
    const found = new Set<number>()
    if (phrase.some(({ size }) => size === 0)) return found
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

  /** Terms that may occur. */
  terms(turn: Turn): Promise<Terms> {
    return this.#vocabulary.read(turn)
  }

  /** Approximate bytes of memory. */
  get bytes(): number {
    const docs = this.#docs.size * DOC_BYTES + this.#tokens * TOKEN_BYTES
    const terms = this.#lexicon.bytes + this.#calendar.byteLength + this.#vocabulary.bytes
    return docs + terms + this.vectors.bytes
  }
}
