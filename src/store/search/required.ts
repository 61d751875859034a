/** Memories that satisfy the required parts of a query: phrases, and all words with match=all. */
import type { Doc, HomeIndex } from './home-index.ts'
import { isUnspaced } from './tokens.ts'
import { containing, type Dictionary, spellingsOf } from './variants.ts'

export interface Required {
  /** Tokens that must be adjacent. */
  readonly phrases: readonly (readonly string[])[]
  /** At least one term of each group must occur. */
  readonly groups: readonly (readonly string[])[]
}

/** Each requirement looks only at memories that satisfied the one before. Undefined: none. */
export async function required(
  index: HomeIndex,
  { phrases, groups }: Required,
  dictionary: Dictionary,
): Promise<ReadonlySet<number> | undefined> {
  const { turn } = dictionary
  let ids: ReadonlySet<number> | undefined
  const isAsked = ({ id }: Doc): boolean => ids?.has(id) ?? true

  async function withSome(terms: readonly string[]): Promise<ReadonlySet<number>> {
    const having = new Set<number>()
    await index.visit(terms, (_, { id }) => void having.add(id), turn, isAsked)
    return having
  }

  for (const tokens of phrases) {
    const [token = ''] = tokens
    const terms = tokens.map((each) => spellingsOf(dictionary, each))
    if (tokens.length > 1) ids = await index.withPhrase(terms, turn, isAsked)
    else if (!isUnspaced(token)) ids = await withSome(terms.flat())
    else ids = await withSome([...(await containing(dictionary, token)).keys()])
  }
  for (const terms of groups) ids = await withSome(terms)
  return ids
}
