/** Lists of namespaces. */
import type { ListNamespacesOperation, MatchCondition } from '@langchain/langgraph-checkpoint'

const fits = (part: string | undefined, label: string | undefined): boolean =>
  part === '*' || part === label

function meets(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  const left = namespace.length - path.length
  const from = matchType === 'suffix' ? left : 0
  return left >= 0 && path.every((part, at) => fits(part, namespace[from + at]))
}

const nameOf = (namespace: readonly string[]): string => namespace.join(':')

/** In alphabetical order, each once. */
export function namespacesAsked(
  all: readonly (readonly string[])[],
  { matchConditions = [], maxDepth, offset, limit }: ListNamespacesOperation,
): string[][] {
  const met = all.filter((each) => matchConditions.every((condition) => meets(each, condition)))
  const cut = met.map((each) => each.slice(0, maxDepth))
  const once = [...new Map(cut.map((each) => [nameOf(each), each])).values()]
  const sorted = once.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  return sorted.slice(offset ?? 0, (offset ?? 0) + (limit ?? sorted.length))
}
