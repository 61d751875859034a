/** What changes make of the log of a home: its new rows, chained, and the new states of its keys. */

import { bytesOf, isPinnedAfter } from './bring.ts'
import { canonicalEvent, commitTo, hashAfter, hexOf } from './chain.ts'
import { type Effect, isPinned } from './change.ts'
import type { ChainHead, KeyState, LogEntry, MadeVersion, Place } from './home-log.ts'
import { NO_MARKS } from './marks.ts'
import type { EventType } from './port/events.ts'
import type { Author } from './port/identity.ts'
import type { Deleted } from './port/memories.ts'
import type { KeptVersion } from './port/transfer.ts'
import { subjectOf } from './rows.ts'

interface NewEntry {
  readonly type: EventType
  readonly key?: string | null | undefined
  readonly from?: string | null | undefined
  readonly version?: number | null | undefined
  readonly at: number
  readonly made?: Omit<MadeVersion, 'bytes' | 'size' | 'salt'> | undefined
}

const NO_COMMITMENT = { salt: null, content: null } as const

/** Adds entries, each chained on the one before it. */
export function chainEntries(before: ChainHead, by: Author) {
  const author = JSON.stringify(by)
  const entries: LogEntry[] = []
  let { lastEvent, head } = before
  return {
    entries,
    end: (): ChainHead => ({ lastEvent, head }),
    next: (): number => lastEvent + 1,
    /** Returns the event's id. */
    add({ type, key = null, from = null, version = null, at, made }: NewEntry): number {
      const id = ++lastEvent
      const text = made?.content
      const { salt, content } = text ? commitTo(text) : NO_COMMITMENT
      const subject = subjectOf(type, key)
      const canonical = canonicalEvent({
        id,
        type,
        key: subject.key,
        namedKey: subject.namedKey,
        rollback: subject.rollback,
        from: from ?? undefined,
        version: version ?? undefined,
        by,
        createdAt: at,
        content: content ? hexOf(content) : undefined,
      })
      const hash = hashAfter(head, canonical)
      head = hash
      const bytes = text ? Buffer.byteLength(text.text) : 0
      const size = text ? bytes + Buffer.byteLength(text.metadata) : 0
      const version_ = made && { ...made, bytes, size, salt }
      entries.push({ id, type, key, from, version, by: author, at, hash, content, made: version_ })
      return id
    },
  }
}

type Of<Kind extends Effect['effect']> = Extract<Effect, { readonly effect: Kind }>

/** `left`: of a deletion, or of the old key of a rename. */
export const remainsOf = (
  state: KeyState,
  { version, deletedAt }: Deleted,
  place: Place | null,
): KeyState => ({
  ...state,
  ...{ version, updatedAt: deletedAt, deleted: true, size: 0, pinned: false, marks: NO_MARKS },
  ...{ place, kept: place !== null },
})

/** The states of keys while effects are followed. */
export interface Following {
  readonly chain: ReturnType<typeof chainEntries>
  /** New ones. */
  readonly states: Map<string, KeyState>
  /** Those before. */
  readonly stored: (key: string) => KeyState | undefined
  readonly now: number
}

const stateOf = ({ states, stored }: Following, key: string): KeyState | undefined =>
  states.get(key) ?? stored(key)

function keep(following: Following, effect: Of<'keep'>): void {
  const { memory, operation, size, left } = effect
  const { key, id, version, createdAt, updatedAt } = memory
  const before = stateOf(following, left?.key ?? key)
  const made = { operation, previous: before?.place ?? null, id, createdAt, content: memory }
  const entry = { type: operation, key, from: left?.key ?? null, version, at: updatedAt, made }
  const change = following.chain.add(entry)
  // Most writes come through here: spread, these would be copied once more.
  following.states.set(key, {
    id,
    version,
    createdAt,
    updatedAt,
    deleted: false,
    size,
    kept: true,
    marks: effect.marks ?? before?.marks ?? NO_MARKS,
    pinned: isPinned(memory.metadata),
    place: { event: change },
    change,
    count: (before?.count ?? 0) + 1,
    run: left || !before ? 0 : before.run + 1,
  })
  if (!left || !before) return
  const remains = remainsOf(before, left.deleted, null)
  following.states.set(left.key, { ...remains, change, count: 0, run: 0 })
}

function remove(following: Following, { key, deleted }: Of<'delete'>): void {
  const before = stateOf(following, key)
  if (!before) return
  const { version, deletedAt: at } = deleted
  const { id, createdAt, place: previous, count, run } = before
  const made = { operation: 'delete', previous, id, createdAt, content: null } as const
  const change = following.chain.add({ type: 'delete', key, version, at, made })
  const remains = remainsOf(before, deleted, { event: change })
  following.states.set(key, { ...remains, change, count: count + 1, run: run + 1 })
}

function bring({ chain, states, now }: Following, effect: Of<'bring'>): void {
  const { key, versions } = effect
  let place: Place | null = null
  for (const each of versions) {
    const { id, version, operation, createdAt, updatedAt, by, madeAs, content = null } = each
    const author = by ? JSON.stringify(by) : null
    const asItWas = { author, updatedAt, madeAs: madeAs === key ? null : (madeAs ?? null) }
    const made: NewEntry['made'] = { operation, previous: place, id, createdAt, content, asItWas }
    place = { event: chain.add({ type: 'import', key, version, at: now, made }) }
  }
  const newest = versions.at(-1) as KeptVersion
  const { id, version, createdAt, updatedAt, content } = newest
  states.set(key, {
    ...{ id, version, createdAt, updatedAt, deleted: !content, kept: true, place },
    ...{ size: bytesOf(newest), marks: effect.marks },
    ...{ pinned: isPinnedAfter(versions) },
    ...{ change: chain.end().lastEvent, count: versions.length, run: 0 },
  })
}

export function follow(following: Following, effect: Effect): void {
  if (effect.effect === 'keep') keep(following, effect)
  else if (effect.effect === 'delete') remove(following, effect)
  else bring(following, effect)
}
