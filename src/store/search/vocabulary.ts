/** The terms of an index in their order, to be looked through. */
import { tokensOf } from './tokens.ts'

/** Beyond any word: nothing that is longer is looked for by its parts. */
const LONGEST_TERM = 40

const MOST_TERMS = 300_000
/** What is listed, or looked through, without a pause. */
const LISTED_PER_TURN = 500
const TERMS_PER_TURN = 8_192

/** New terms after which the list is made anew, or an eighth of it. */
const MOST_ADDED = 4_096

/** Letters first: of a home with very many numbers the words are kept. */
const RANGES = [
  [':', '\u{10ffff}'],
  ['', ':'],
] as const

/** What a term takes beside its characters, roughly. */
const TERM_BYTES = 40

/** Lets others have their turn. */
export type Turn = () => Promise<void>

/** Terms after `after` and before `before`, the first in their order. */
export type ListTerms = (after: string, before: string, most: number) => readonly [string][]

/** The place of the first that is not before the term. */
function placeOf(terms: readonly string[], term: string): number {
  let [from, to] = [0, terms.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((terms[middle] ?? '') < term) from = middle + 1
    else to = middle
  }
  return from
}

/** What one query may look through: whoever fills a home with words pays by finding less. */
export interface Allowance {
  looks: number
}

/** A look at a term that is compared letter by letter. */
export const COMPARISON = 16

export interface Look {
  readonly beginning?: string
  readonly test: (term: string) => boolean
  /** What one term costs, in looks. */
  readonly cost?: number
  /** The first in their order. */
  readonly most: number
}

/** Terms that may be there: what is looked up by one that is gone is found nowhere. */
export class Terms {
  /** In the order of UTF-16 units. */
  readonly sorted: readonly string[]
  readonly added = new Set<string>()

  constructor(sorted: readonly string[]) {
    this.sorted = sorted
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
    for (let at = start; at < this.sorted.length && found.length < most; at++) {
      const term = this.sorted[at] ?? ''
      if (!term.startsWith(beginning) || allowance.looks < cost) break
      allowance.looks -= cost
      if (test(term)) found.push(term)
      if ((at - start + 1) % Math.ceil(TERMS_PER_TURN / cost) === 0) await turn()
    }
    for (const term of this.added) if (term.startsWith(beginning) && test(term)) found.push(term)
    return found.toSorted().slice(0, most)
  }

  get bytes(): number {
    return (this.sorted.length + this.added.size) * TERM_BYTES
  }
}

export class Vocabulary {
  #terms: Terms | undefined
  /** A list that is made while something is put lacks it. */
  #puts = 0
  readonly #list: ListTerms

  constructor(list: ListTerms) {
    this.#list = list
  }

  add(...texts: readonly string[]): void {
    this.#puts++
    const terms = this.#terms
    if (!terms) return
    for (const token of texts.flatMap(tokensOf)) {
      if (token.length <= LONGEST_TERM && !terms.has(token)) terms.added.add(token)
    }
    if (terms.added.size > Math.max(MOST_ADDED, terms.sorted.length / 8)) this.#terms = undefined
  }

  async read(turn: Turn): Promise<Terms> {
    if (this.#terms) return this.#terms
    const puts = this.#puts
    const sorted: string[] = []
    for (const [from, to] of RANGES) {
      for (let after: string = from; sorted.length < MOST_TERMS; ) {
        const listed = this.#list(after, to, LISTED_PER_TURN)
        for (const [term] of listed) if (term.length <= LONGEST_TERM) sorted.push(term)
        if (listed.length < LISTED_PER_TURN) break
        after = listed.at(-1)?.[0] ?? after
        await turn()
      }
    }
    const terms = new Terms(sorted.sort())
    if (puts === this.#puts) this.#terms = terms
    return terms
  }

  get bytes(): number {
    return this.#terms?.bytes ?? 0
  }
}
