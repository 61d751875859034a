/** What an import does to each key: decided here for every engine. */
import { type Head, isLiving } from './change.ts'
import { isOver, type Ledger } from './plan.ts'
import type { Refused } from './port/home.ts'
import type { Operation } from './port/keeping/memories.ts'
import type { HomeBounds } from './port/store.ts'
import {
  type ImportAnswer,
  type ImportOrder,
  type KeptVersion,
  MOST_CONFLICTS,
} from './port/transfer.ts'

/** The newest version of a key in the source. */
export type Newest = Omit<KeptVersion, 'content' | 'by'> & { readonly size: number }

/** A version that follows the current one of its key. */
export type Next = Pick<KeptVersion, 'id' | 'version' | 'createdAt' | 'updatedAt'>

export type Fate =
  /** The key is new to this home: numbers, authors and history are kept. */
  | { readonly fate: 'as_it_was' }
  | { readonly fate: 'next'; readonly next: Next }
  | { readonly fate: 'left_out' }

const LEFT_OUT: Fate = { fate: 'left_out' }

/**
 * A higher version starts again at 1. An import refuses twice this number, so a memory that was
 * imported can be written for years and still be exported and imported again.
 */
export const HIGHEST_AS_IT_WAS = 500_000_000_000

const isDeletion = ({ operation }: Newest): boolean => operation === 'delete'

/** The highest version that a forgotten tombstone under this key can have had is the floor. */
const forgotten = ({ id, createdAt }: Newest, version: number): Head => ({
  ...{ id, version, createdAt, updatedAt: createdAt },
  ...{ deleted: true, size: 0, kept: false, protected: false },
})

const isLeftOut = (
  newest: Newest,
  head: Head,
  { onConflict, rollbackTo }: ImportOrder,
): boolean => {
  if (rollbackTo !== undefined) return isDeletion(newest) && !isLiving(head)
  return isDeletion(newest) || (isLiving(head) && (onConflict !== 'replace' || head.protected))
}

function fateOf(
  newest: Newest,
  found: Head | undefined,
  { floor }: Ledger,
  order: ImportOrder,
  now: number,
): Fate {
  const isNew = order.rollbackTo === undefined && !found && newest.version > floor
  if (isNew && newest.version <= HIGHEST_AS_IT_WAS) return { fate: 'as_it_was' }
  const head = found ?? forgotten(newest, floor)
  if (isLeftOut(newest, head, order)) return LEFT_OUT
  const updatedAt = Math.max(now, head.updatedAt)
  const { id, createdAt } = isLiving(head) ? head : newest
  const version = head.version + 1
  return {
    fate: 'next',
    next: { id, version, createdAt: Math.min(createdAt, updatedAt), updatedAt },
  }
}

/** The home's counters after this key. `bytes`: of all its versions in the source. */
function counted(
  ledger: Ledger,
  { fate }: Fate,
  newest: Newest,
  bytes: number,
  head: Head | undefined,
): Ledger {
  if (fate === 'left_out') return ledger
  const was = isLiving(head) ? head.size : 0
  const size = isDeletion(newest) ? 0 : newest.size
  const earlier = fate === 'as_it_was' ? bytes - newest.size : was
  return {
    ...ledger,
    memories: ledger.memories + (isDeletion(newest) ? 0 : 1) - (isLiving(head) ? 1 : 0),
    bytes: ledger.bytes - was + size,
    history: ledger.history + earlier,
    deleted: ledger.deleted + (isDeletion(newest) ? 1 : 0) - (head?.deleted ? 1 : 0),
  }
}

/** The imported memories so far, and their bytes. */
export interface Brought {
  readonly memories: number
  readonly bytes: number
}

export const NOTHING_BROUGHT: Brought = { memories: 0, bytes: 0 }

export const withBrought = (brought: Brought, newest: Newest, { fate }: Fate): Brought =>
  fate === 'left_out' || isDeletion(newest)
    ? brought
    : { memories: brought.memories + 1, bytes: brought.bytes + newest.size }

/** Whether the quota is exceeded for certain: replacing every memory would not make room. */
export const isTooMuch = (brought: Brought, before: Ledger, bounds: HomeBounds): boolean =>
  isOver(before, { ...before, ...brought, vectors: 0 }, bounds)

/** Tombstones beyond the limit that a home may have before some are removed together. */
const LATE = 64

/** More keys than a home can have live and deleted together; 0: no limit. */
export const mostKeys = ({ memories, events }: HomeBounds): number =>
  memories > 0 && events > 0 ? memories + events + LATE : 0

/** Follows an import key by key. */
export function followImport(before: Ledger, order: ImportOrder, bounds: HomeBounds, now: number) {
  const conflicts: string[] = []
  const protectedKeys: string[] = []
  let ledger = before
  let imported = 0
  let skipped = 0
  let historyLeftOut = 0
  let deleted = 0
  const most = mostKeys(bounds)
  const isTooMany = () => most > 0 && imported + skipped > most

  return {
    /** `head`: the key's current state; `bytes`: of all its versions in the source. */
    meet(newest: Newest, head: Head | undefined, bytes: number, versions = 1): Fate {
      const stands = isLiving(head) && !isDeletion(newest)
      if (stands && conflicts.length < MOST_CONFLICTS) conflicts.push(newest.key)
      const fate = fateOf(newest, head, before, order, now)
      const isRefused = stands && fate.fate === 'left_out' && order.onConflict === 'replace'
      if (isRefused && protectedKeys.length < MOST_CONFLICTS) protectedKeys.push(newest.key)
      if (fate.fate === 'next' && isDeletion(newest)) deleted++
      if (fate.fate === 'left_out') skipped++
      else imported++
      if (fate.fate === 'next') historyLeftOut += versions - 1
      ledger = counted(ledger, fate, newest, bytes, head)
      return fate
    },
    ledger: () => ledger,
    /** Whether the import must be refused as a whole. */
    fails: () => isTooMany() || (order.onConflict === 'fail' && conflicts.length > 0),
    answer(): Exclude<ImportAnswer, Refused> {
      if (order.onConflict === 'fail' && conflicts.length > 0) {
        return { outcome: 'conflict', conflicts }
      }
      if (isTooMany() || isOver(before, ledger, bounds)) return { outcome: 'over_quota' }
      const leftOut = historyLeftOut > 0 && { historyLeftOut }
      const gone = order.rollbackTo !== undefined && { deleted }
      const kept = protectedKeys.length > 0 && { protected: protectedKeys }
      return { outcome: 'imported', imported, skipped, conflicts, ...leftOut, ...kept, ...gone }
    },
  }
}

export type Following = ReturnType<typeof followImport>

/** Whether only the operator changes the memory afterwards: as the source says, or else as before. */
export const isProtectedAfter = (newest: Newest, head: Head | undefined): boolean =>
  !isDeletion(newest) && (newest.protected ?? head?.protected ?? false)

/** Of a version that follows the current one of its key, and of its event. */
export const operationOf = (
  { operation }: Pick<KeptVersion, 'operation'>,
  { rollbackTo }: ImportOrder,
): Operation => (rollbackTo === undefined ? 'import' : operation)

/** Whether the import is to be applied once every key has been seen. */
export const isKept = ({ outcome }: ImportAnswer, { dryRun }: ImportOrder): boolean =>
  outcome === 'imported' && !dryRun

/**
 * Whether the staged rows of a key can be adjusted to the fate it has now. `written`: undefined if
 * nothing was staged.
 */
export const canBecome = (written: Fate | undefined, { fate }: Fate): boolean =>
  fate === 'left_out' || (written !== undefined && (fate === 'next' || fate === written.fate))
