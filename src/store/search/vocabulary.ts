/** The terms of an index in sorted order, in one spelling each. */
import { isDayTerm } from './days.ts'
import { firstNot } from './halving.ts'
import type { Lexicon } from './lexicon.ts'
import { spellingOf } from './spelling.ts'

/** Longer terms are not looked up by their parts. */
const LONGEST_TERM = 40

/** UTF-8 bytes of a UTF-16 unit. */
const MOST_BYTES = 3

const MOST_TERMS = 300_000
/** Terms listed, sorted or scanned without a pause. */
const LISTED_PER_TURN = 4_096
const TERMS_PER_TURN = 8_192

/** The list is rebuilt after this many new terms, or an eighth of it. */
const MOST_ADDED = 4_096

const DIGIT = /^\d/

/** Approximate bytes per term, without its characters. */
const TERM_BYTES = 40
const SPELLING_BYTES = 40

/** Of one term. */
const MOST_SPELLINGS = 64

/** Lets other work run. */
export type Turn = () => Promise<void>

/** Merge sort of sorted runs, because one sort would take too long for a turn. */
async function sorted(terms: readonly string[], turn: Turn): Promise<readonly string[]> {
  let runs: string[][] = []
  for (let at = 0; at < terms.length; at += TERMS_PER_TURN) {
    runs.push(terms.slice(at, at + TERMS_PER_TURN).sort())
    await turn()
  }
  while (runs.length > 1) {
    const merged: string[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const pair = runs.slice(at, at + 2).flat()
      merged.push(pair.sort())
      await turn()
    }
    runs = merged
  }
  return runs[0] ?? []
}

/** The index of the first term that is not before this one. */
const placeOf = (terms: readonly string[], term: string): number =>
  firstNot(terms.length, (place) => (terms[place] ?? '') < term)

/** The limit for one query: a home full of different words gets fewer variants. */
export interface Allowance {
  looks: number
}

/** The cost of comparing a term letter by letter. */
export const COMPARISON = 16

export interface Look {
  readonly beginning?: string
  readonly test: (term: string) => boolean
  /** The cost of a term. */
  readonly cost?: number
  /** The first in order. */
  readonly most: number
}

/** For each term with other spellings than itself, their numbers in the lexicon. */
type Spellings = Map<string, number | readonly number[]>

/** The term for a word with this number. */
function noted(word: string, number: number, spellings: Spellings): string {
  const term = spellingOf(word)
  if (term === word) return term
  const known = [spellings.get(term) ?? []].flat()
  if (known.length < MOST_SPELLINGS)
    spellings.set(term, known.length === 0 ? number : [...known, number])
  return term
}

/** Terms that may occur: one that is gone is found in no memory. */
export class Terms {
  /** In UTF-16 order. */
  readonly sorted: readonly string[]
  readonly added = new Set<string>()
  readonly #spellings: Spellings
  readonly #lexicon: Lexicon

  constructor(sorted: readonly string[], spellings: Spellings, lexicon: Lexicon) {
    this.sorted = sorted
    this.#spellings = spellings
    this.#lexicon = lexicon
  }

  add(word: string, number: number): void {
    this.added.add(noted(word, number, this.#spellings))
  }

  /** As they are indexed; the first may not occur. */
  spellingsOf(term: string): readonly string[] {
    const numbers = [this.#spellings.get(term) ?? []].flat()
    return [term, ...numbers.map((number) => this.#lexicon.nameOf(number))]
  }

  has(term: string): boolean {
    return this.added.has(term) || this.sorted[placeOf(this.sorted, term)] === term
  }

  async find(
    { beginning = '', test, cost = 1, most }: Look,
    allowance: Allowance,
    turn: Turn,
  ): Promise<readonly string[]> {
    const found: string[] = []
    const start = placeOf(this.sorted, beginning)
    const begins = (term: string): boolean => beginning === '' || term.startsWith(beginning)
    for (let at = start; at < this.sorted.length && found.length < most; at++) {
      const term = this.sorted[at] ?? ''
      if (!begins(term) || allowance.looks < cost) break
      allowance.looks -= cost
      if (test(term)) found.push(term)
      if ((at - start + 1) % Math.ceil(TERMS_PER_TURN / cost) === 0) await turn()
    }
    for (const term of this.added) if (begins(term) && test(term)) found.push(term)
    return [...new Set(found)].toSorted().slice(0, most)
  }

  get bytes(): number {
    const terms = this.sorted.length + this.added.size
    return terms * TERM_BYTES + this.#spellings.size * SPELLING_BYTES
  }
}

export class Vocabulary {
  readonly #lexicon: Lexicon
  #terms: Terms | undefined
  /** Terms below this number are in the list. */
  #listed = 0

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon
  }

  async read(turn: Turn): Promise<Terms> {
    const { size } = this.#lexicon
    const mostAdded = Math.max(MOST_ADDED, (this.#terms?.sorted.length ?? 0) / 8)
    if (!this.#terms || size - this.#listed > mostAdded) {
      this.#terms = await this.#list(size, turn)
      this.#listed = size
    }
    for (; this.#listed < this.#lexicon.size; this.#listed++) {
      const term = this.#wordOf(this.#listed)
      if (term !== undefined) this.#terms.add(term, this.#listed)
    }
    return this.#terms
  }

  /** Undefined if longer than a word, or none. */
  #wordOf(number: number): string | undefined {
    if (this.#lexicon.lengthOf(number) > MOST_BYTES * LONGEST_TERM) return undefined
    const term = this.#lexicon.nameOf(number)
    return term.length <= LONGEST_TERM && !isDayTerm(term) ? term : undefined
  }

  /** Words first, so that they are kept in homes with very many numbers. */
  async #list(size: number, turn: Turn): Promise<Terms> {
    const spellings: Spellings = new Map()
    const words: string[] = []
    const numbers: string[] = []
    for (let number = 1; number < size && words.length < MOST_TERMS; number++) {
      const word = this.#wordOf(number)
      const term = word === undefined ? '' : noted(word, number, spellings)
      if (term !== '') (DIGIT.test(term) ? numbers : words).push(term)
      if (numbers.length > MOST_TERMS) numbers.length = MOST_TERMS
      if (number % LISTED_PER_TURN === 0) await turn()
    }
    const all = await sorted([...words, ...numbers].slice(0, MOST_TERMS), turn)
    const once = all.filter((term, at) => term !== all[at - 1])
    return new Terms(once, spellings, this.#lexicon)
  }

  get bytes(): number {
    return this.#terms?.bytes ?? 0
  }
}
