/** Which versions an erasure removes, and what remains: decided here for every engine. */
import { deletedOf, type Head, isLiving, timeAfter } from './change.ts'
import type { Counters } from './plan.ts'
import type { Deleted, Erasure } from './port/memories.ts'

/** A retained version. */
export interface Link {
  /** Its row in the log. */
  readonly n: number
  /** The row of the version before it. */
  readonly previous: number | null
  readonly version: number
  /** UTF-8 bytes of its text and metadata. */
  readonly size: number
}

export interface Erased<Version extends Link> {
  readonly gone: readonly Version[]
  /** Remaining versions whose predecessor was removed. */
  readonly relinked: readonly Pick<Link, 'n' | 'previous'>[]
  /** If everything was removed: the tombstone. */
  readonly left: Deleted | undefined
  /** Erasing a live memory as a whole also creates the version of its deletion. */
  readonly made: number | undefined
  readonly counters: Counters
}

const isErased = (erasure: Erasure, { version }: Link, head: Head): boolean => {
  if (erasure === 'all') return true
  return version !== head.version && (erasure === 'history' || erasure.includes(version))
}

/** Links the remaining versions to each other. */
function relink(stay: readonly Link[]): Erased<Link>['relinked'] {
  const links = stay.map(({ n }, at) => ({ n, previous: stay[at + 1]?.n ?? null }))
  return links.filter(({ previous }, at) => previous !== stay[at]?.previous)
}

const bytesOf = (versions: readonly Link[]): number =>
  versions.reduce((sum, { size }) => sum + size, 0)

function counted(counters: Counters, gone: readonly Link[], ended: Head | undefined): Counters {
  const size = ended?.size ?? 0
  const one = ended ? 1 : 0
  return {
    ...counters,
    memories: counters.memories - one,
    deleted: counters.deleted + one,
    bytes: counters.bytes - size,
    history: counters.history - (bytesOf(gone) - size),
  }
}

/**
 * `versions`: the retained versions, newest first. `current`: the list names the current version.
 */
export function planErasure<Version extends Link>(
  erasure: Erasure,
  head: Head,
  versions: readonly Version[],
  counters: Counters,
  now: number,
): Erased<Version> | 'current' {
  const living = isLiving(head)
  if (typeof erasure !== 'string' && living && erasure.includes(head.version)) return 'current'
  const gone = versions.filter((each) => isErased(erasure, each, head))
  const taken = new Set<Link>(gone)
  const all = erasure === 'all'
  const ended = all && living ? head : undefined
  const made = ended && { version: head.version + 1, deletedAt: timeAfter(head, now) }
  return {
    gone,
    relinked: relink(versions.filter((each) => !taken.has(each))),
    left: all ? (made ?? deletedOf(head)) : undefined,
    made: made?.version,
    counters: counted(counters, gone, ended),
  }
}

/** As they are returned, in ascending order. */
export const numbersOf = (versions: readonly Link[]): number[] =>
  versions.map(({ version }) => version).sort((a, b) => a - b)
