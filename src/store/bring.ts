/** What an import or a rollback does to each key: decided here for every engine. */
import { type Effect, type Head, isLiving, isPinned, sizeOf } from './change.ts'
import { markedAs, NO_MARKS } from './marks.ts'
import { type Counters, isOver } from './plan.ts'
import type { Refused } from './port/identity.ts'
import type { Marks, Operation } from './port/memories.ts'
import type { HomeBounds } from './port/store.ts'
import {
  type ImportAnswer,
  type KeptVersion,
  MOST_CONFLICTS,
  type OnConflict,
} from './port/transfer.ts'

/** The versions of a key that are brought together: at least one, oldest first. */
export interface Brought {
  readonly key: string
  readonly versions: readonly KeptVersion[]
  /** How many versions the source has of it, of which the oldest may be left out of `versions`. */
  readonly found: number
}

/** How keys that are there already are met. `isRollback`: as the states of then, protected or not. */
export interface Way {
  readonly onConflict: OnConflict
  readonly isRollback: boolean
}

export const ROLLBACK: Way = { onConflict: 'replace', isRollback: true }

/**
 * A higher version starts again at 1. An import refuses twice this number, so a memory that was
 * imported can be written for years and still be exported and imported again.
 */
export const HIGHEST_AS_IT_WAS = 500_000_000_000

const newestOf = ({ versions }: Brought): KeptVersion => versions.at(-1) as KeptVersion

const isDeletion = ({ operation }: KeptVersion): boolean => operation === 'delete'

/** Of the text and metadata, UTF-8. */
export const bytesOf = ({ content }: KeptVersion): number => (content ? sizeOf(content) : 0)

/** The highest version that a forgotten tombstone under this key can have had is the floor. */
const forgotten = ({ id, createdAt }: KeptVersion, version: number): Head => ({
  ...{ id, version, createdAt, updatedAt: createdAt },
  ...{ deleted: true, size: 0, kept: false, marks: NO_MARKS },
})

const isLeftOut = (newest: KeptVersion, head: Head, { onConflict, isRollback }: Way): boolean => {
  if (isRollback) return isDeletion(newest) && !isLiving(head)
  return (
    isDeletion(newest) || (isLiving(head) && (onConflict !== 'replace' || head.marks.protected))
  )
}

/** As the source says, or else as before. */
const marksAfter = (newest: KeptVersion, before = NO_MARKS): Marks =>
  isDeletion(newest) ? NO_MARKS : markedAs(newest, before)

/** The version that follows the current one. */
function next(newest: KeptVersion, head: Head, { isRollback }: Way, now: number): Effect {
  const { key, operation, content } = newest
  const updatedAt = Math.max(now, head.updatedAt)
  const version = head.version + 1
  if (!content) return { effect: 'delete', key, deleted: { version, deletedAt: updatedAt } }
  const { id, createdAt } = isLiving(head) ? head : newest
  const times = { createdAt: Math.min(createdAt, updatedAt), updatedAt }
  return {
    effect: 'keep',
    operation: isRollback ? (operation as Exclude<Operation, 'delete'>) : 'import',
    memory: { id, key, ...content, version, ...times },
    size: sizeOf(content),
    marks: marksAfter(newest, head.marks),
  }
}

/** What is done to the key; undefined if it is left out. */
function effectOf(
  brought: Brought,
  found: Head | undefined,
  { floor }: Counters,
  way: Way,
  now: number,
): Effect | undefined {
  const { key, versions } = brought
  const newest = newestOf(brought)
  const isNew = !way.isRollback && !found && newest.version > floor
  if (isNew && newest.version <= HIGHEST_AS_IT_WAS) {
    return { effect: 'bring', key, versions, marks: marksAfter(newest) }
  }
  const head = found ?? forgotten(newest, floor)
  return isLeftOut(newest, head, way) ? undefined : next(newest, head, way, now)
}

/** The home's counters after this key. */
function counted<L extends Counters>(
  counters: L,
  effect: Effect,
  { versions }: Brought,
  head: Head | undefined,
): L {
  const newest = versions.at(-1) as KeptVersion
  const was = isLiving(head) ? head.size : 0
  const size = bytesOf(newest)
  const all = versions.reduce((sum, each) => sum + bytesOf(each), 0)
  return {
    ...counters,
    memories: counters.memories + (isDeletion(newest) ? 0 : 1) - (isLiving(head) ? 1 : 0),
    bytes: counters.bytes - was + size,
    history: counters.history + (effect.effect === 'bring' ? all - size : was),
    deleted: counters.deleted + (isDeletion(newest) ? 1 : 0) - (head?.deleted ? 1 : 0),
  }
}

/** Tombstones beyond the limit that a home may have before some are removed together. */
const LATE = 64

/** More keys than a home can have live and deleted together; 0: no limit. */
const mostKeys = ({ memories, events }: HomeBounds): number =>
  memories > 0 && events > 0 ? memories + events + LATE : 0

/** Follows what is brought, key by key. */
export function followBrought<L extends Counters>(before: L, way: Way, bounds: HomeBounds) {
  const conflicts: string[] = []
  const protectedKeys: string[] = []
  const counts = { imported: 0, skipped: 0, historyLeftOut: 0, deleted: 0 }
  let counters = before
  /** What is brought alone, as if it replaced everything. */
  let alone = { ...before, memories: 0, bytes: 0, vectors: 0 }
  const most = mostKeys(bounds)
  const isTooMany = () => most > 0 && counts.imported + counts.skipped > most
  const isConflict = () => way.onConflict === 'fail' && conflicts.length > 0

  return {
    /** `head`: the key's current state. Undefined if it is left as it is. */
    meet(brought: Brought, head: Head | undefined, now: number): Effect | undefined {
      const newest = newestOf(brought)
      const stands = isLiving(head) && !isDeletion(newest)
      if (stands && conflicts.length < MOST_CONFLICTS) conflicts.push(brought.key)
      const effect = effectOf(brought, head, before, way, now)
      const isRefused = stands && !effect && way.onConflict === 'replace'
      if (isRefused && protectedKeys.length < MOST_CONFLICTS) protectedKeys.push(brought.key)
      counts[effect ? 'imported' : 'skipped']++
      if (!effect) return undefined
      if (effect.effect === 'delete') counts.deleted++
      if (effect.effect !== 'bring') counts.historyLeftOut += brought.found - 1
      counters = counted(counters, effect, brought, head)
      if (!isDeletion(newest)) {
        const { memories, bytes } = alone
        alone = { ...alone, memories: memories + 1, bytes: bytes + bytesOf(newest) }
      }
      return effect
    },
    counters: (): L => counters,
    /** Whether it is over the quota for certain, whatever follows. */
    isTooMuch: () => isTooMany() || isOver(before, alone, bounds),
    /**
     * Why nothing of it may be written; undefined if it may. `since`: the counters that the quota is
     * judged by; null: it is not.
     */
    refusal(
      since: Counters | null = before,
    ): Exclude<ImportAnswer, Refused | { outcome: 'imported' }> | undefined {
      if (isConflict()) return { outcome: 'conflict', conflicts }
      const isTooMuch = since !== null && (isTooMany() || isOver(since, counters, bounds))
      return isTooMuch ? { outcome: 'over_quota' } : undefined
    },
    answer(): Extract<ImportAnswer, { outcome: 'imported' }> {
      const { historyLeftOut, deleted, ...told } = counts
      const leftOut = historyLeftOut > 0 && { historyLeftOut }
      const kept = protectedKeys.length > 0 && { protected: protectedKeys }
      const gone = way.isRollback && { deleted }
      return { outcome: 'imported', ...told, conflicts, ...leftOut, ...kept, ...gone }
    },
  }
}

/** Whether the newest of the versions is part of the agent's context. */
export const isPinnedAfter = (versions: readonly KeptVersion[]): boolean => {
  const content = versions.at(-1)?.content
  return content !== undefined && isPinned(content.metadata)
}
