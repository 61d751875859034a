/** What an erasure takes of a memory, and what it leaves, decided alike for every engine. */
import { deletedOf, type Head, isLiving, timeAfter } from './change.ts'
import type { Ledger } from './plan.ts'
import type { Deleted, Erasure } from './port/keeping/memories.ts'

/** A version that is kept. */
export interface Link {
  /** Where it lies. */
  readonly n: number
  /** Where the version before it lies. */
  readonly previous: number | null
  readonly version: number
  /** UTF-8 bytes of its text and metadata. */
  readonly size: number
}

export interface Erased<Version extends Link> {
  readonly gone: readonly Version[]
  /** Of those that stay: which have another before them now. */
  readonly relinked: readonly Pick<Link, 'n' | 'previous'>[]
  /** Where all is gone: what is left under the key, as by a delete. */
  readonly left: Deleted | undefined
  /** What was made: a memory that was there and is gone has a version more. */
  readonly made: number | undefined
  readonly ledger: Ledger
}

const isErased = (erasure: Erasure, { version }: Link, head: Head): boolean => {
  if (erasure === 'all') return true
  return version !== head.version && (erasure === 'history' || erasure.includes(version))
}

/** Those that stay name each other. */
function relink(stay: readonly Link[]): Erased<Link>['relinked'] {
  const links = stay.map(({ n }, at) => ({ n, previous: stay[at + 1]?.n ?? null }))
  return links.filter(({ previous }, at) => previous !== stay[at]?.previous)
}

const bytesOf = (versions: readonly Link[]): number =>
  versions.reduce((sum, { size }) => sum + size, 0)

function counted(ledger: Ledger, gone: readonly Link[], ended: Head | undefined): Ledger {
  const size = ended?.size ?? 0
  const one = ended ? 1 : 0
  return {
    ...ledger,
    memories: ledger.memories - one,
    deleted: ledger.deleted + one,
    bytes: ledger.bytes - size,
    history: ledger.history - (bytesOf(gone) - size),
  }
}

/** `versions`: what is kept of the memory, newest first. `current`: it names the current version. */
export function planErasure<Version extends Link>(
  erasure: Erasure,
  head: Head,
  versions: readonly Version[],
  ledger: Ledger,
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
    ledger: counted(ledger, gone, ended),
  }
}

/** As they are told: the lowest first. */
export const numbersOf = (versions: readonly Link[]): number[] =>
  versions.map(({ version }) => version).sort((a, b) => a - b)
