/** Which checkpoints of a thread stay, and which give way to a new one. */
import { groupBy } from '../fitting/listed.ts'
import type { Entry, Head } from './places.ts'

/** Ids are made to rise with time. */
export const newestFirst = (a: Head, b: Head): number =>
  a.checkpoint_id < b.checkpoint_id ? 1 : -1

/** A subgraph's namespace of one run has the task in it; another is used again by later runs. */
const isOfOneTask = (namespace: string): boolean => namespace.includes(':')

/**
 * Of each namespace the newest `keep`, and of a subgraph's run what is not older than those of the
 * graph itself. A thread with channels that are rebuilt from its ancestors keeps them all.
 */
export function staying(heads: readonly Head[], keep: number): Head[] {
  const sorted = heads.toSorted(newestFirst)
  if (sorted.some(({ delta }) => delta)) return sorted
  const byNamespace = groupBy(sorted, ({ checkpoint_ns }) => checkpoint_ns)
  const oldest = byNamespace.get('')?.slice(0, keep).at(-1)
  const isPast = (name: string, newest: Head | undefined) =>
    isOfOneTask(name) && oldest && newest && newest.checkpoint_id < oldest.checkpoint_id
  return [...byNamespace]
    .filter(([name, [newest]]) => !isPast(name, newest))
    .flatMap(([, own]) => own.slice(0, keep))
}

/** Undefined: what a checkpoint needs of an older one is no longer there. */
export function leaving(
  entries: readonly Entry[],
  added: Head,
  keep: number,
): readonly Entry[] | undefined {
  const heads = entries.flatMap(({ head }) => head ?? [])
  const others = heads.filter((head) => nameOf(head) !== nameOf(added))
  if (!holdersOf(added).every((name) => others.some((head) => nameOf(head) === name))) {
    return undefined
  }
  const kept = staying([...others, added], keep)
  const needed = new Set([...kept.map(nameOf), ...kept.flatMap(holdersOf)])
  return entries.filter(({ head }) => head && !needed.has(nameOf(head)))
}

const nameOf = ({ checkpoint_ns, checkpoint_id }: Head): string =>
  JSON.stringify([checkpoint_ns, checkpoint_id])

const holdersOf = ({ checkpoint_ns, holders }: Head): string[] =>
  holders.map((checkpoint_id) => JSON.stringify([checkpoint_ns, checkpoint_id]))
