/** Memories that satisfy the required parts of a query: phrases, and all words with match=all. */
import type { Doc, HomeIndex } from './home-index.ts'
import { isUnspaced } from './tokens.ts'
import { type Dictionary, unspacedTerms } from './variants.ts'
import type { Turn } from './vocabulary.ts'

export interface Required {
  /** Tokens that must be adjacent. */
  readonly phrases: readonly (readonly string[])[]
  /** At least one term of each group must occur. */
  readonly groups: readonly (readonly string[])[]
}

/** Of those that satisfied the previous requirement. */
class Narrowing {
  #ids: ReadonlySet<number> | undefined
  readonly #index: HomeIndex
  readonly #turn: Turn
  readonly #isAsked = ({ id }: Doc): boolean => this.#ids?.has(id) ?? true

  constructor(index: HomeIndex, turn: Turn) {
    this.#index = index
    this.#turn = turn
  }

  /** Undefined: no requirement. */
  get ids(): ReadonlySet<number> | undefined {
    return this.#ids
  }

  async toSome(terms: readonly string[]): Promise<void> {
    const having = new Set<number>()
    await this.#index.visit(terms, (_, { id }) => void having.add(id), this.#turn, this.#isAsked)
    this.#ids = having
  }

  async toPhrase(terms: readonly string[]): Promise<void> {
    this.#ids = await this.#index.withPhrase(terms, this.#turn, this.#isAsked)
  }
}

/** Undefined: no requirement. */
export async function required(
  index: HomeIndex,
  { phrases, groups }: Required,
  dictionary: Dictionary,
): Promise<ReadonlySet<number> | undefined> {
  const narrowing = new Narrowing(index, dictionary.turn)
  for (const tokens of phrases) {
    const [token = ''] = tokens
    if (tokens.length > 1) await narrowing.toPhrase(tokens)
    else
      await narrowing.toSome(isUnspaced(token) ? await unspacedTerms(dictionary, token) : [token])
  }
  for (const terms of groups) await narrowing.toSome(terms)
  return narrowing.ids
}
