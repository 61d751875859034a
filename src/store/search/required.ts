/** Which memories have what must be there: phrases, and words where all of them must. */
import type { Doc, HomeIndex } from './home-index.ts'
import { isUnspaced } from './tokens.ts'
import { type Dictionary, unspacedTerms } from './variants.ts'
import type { Turn } from './vocabulary.ts'

/** Characters of the memories that are looked at without a pause: some milliseconds. */
const CHARS_FOR_TERMS = 8 * 1_048_576
const CHARS_FOR_PHRASE = 1_048_576

/** Each of them is asked of each memory. */
const TERMS_AT_ONCE = 64

export interface Required {
  /** Tokens that must stand one after the other. */
  readonly phrases: readonly (readonly string[])[]
  /** Of each group some term must be there. */
  readonly groups: readonly (readonly string[])[]
}

/** First and last ids of memories with so many characters together, some of them asked for. */
function* ranges(
  docs: Iterable<Doc>,
  isAsked: (id: number) => boolean,
  chars: number,
): Generator<readonly [number, number]> {
  let first: number | undefined
  let last = 0
  let sum = 0
  for (const { id, length } of docs) {
    if (isAsked(id)) {
      first ??= id
      last = id
    }
    sum += length
    if (sum < chars) continue
    if (first !== undefined) yield [first, last]
    first = undefined
    sum = 0
  }
  if (first !== undefined) yield [first, last]
}

function* expressionsOf(terms: readonly string[]): Generator<string> {
  for (let at = 0; at < terms.length; at += TERMS_AT_ONCE) {
    const some = terms.slice(at, at + TERMS_AT_ONCE)
    yield some.map((term) => `"${term}"`).join(' OR ')
  }
}

/** Of those that have what was asked for before. */
class Narrowing {
  #ids: ReadonlySet<number> | undefined
  readonly #index: HomeIndex
  readonly #turn: Turn

  constructor(index: HomeIndex, turn: Turn) {
    this.#index = index
    this.#turn = turn
  }

  /** Undefined: nothing was asked for. */
  get ids(): ReadonlySet<number> | undefined {
    return this.#ids
  }

  async to(expressions: Iterable<string>, chars: number): Promise<void> {
    const docs = [...this.#index.docs.values()]
    const asked = this.#ids
    const isAsked = (id: number): boolean => asked?.has(id) ?? true
    const having = new Set<number>()
    for (const expression of expressions) {
      for (const [from, to] of ranges(docs, isAsked, chars)) {
        for (const id of this.#index.matching(expression, from, to)) {
          if (isAsked(id)) having.add(id)
        }
        await this.#turn()
      }
    }
    this.#ids = having
  }
}

/** Undefined: nothing must be there. */
export async function required(
  index: HomeIndex,
  { phrases, groups }: Required,
  dictionary: Dictionary,
): Promise<ReadonlySet<number> | undefined> {
  const narrowing = new Narrowing(index, dictionary.turn)
  for (const [token = ''] of phrases.filter(({ length }) => length === 1)) {
    const terms = isUnspaced(token) ? await unspacedTerms(dictionary, token) : [token]
    await narrowing.to(expressionsOf(terms), CHARS_FOR_TERMS)
  }
  for (const terms of groups) await narrowing.to(expressionsOf(terms), CHARS_FOR_TERMS)
  for (const tokens of phrases.filter(({ length }) => length > 1)) {
    await narrowing.to([`"${tokens.join(' ')}"`], CHARS_FOR_PHRASE)
  }
  return narrowing.ids
}
