/** What others changed since the caller was last here, as one entry for each memory. */
import { z } from 'zod'
import { dateTime } from '../../pipeline/schemas.ts'
import { startOfDay } from '../../store/port/activity.ts'
import type { HomeEvent, OthersEvent } from '../../store/port/events.ts'
import type { Identity } from '../../store/port/identity.ts'
import { iso } from '../../time.ts'
import type { Home } from '../home.ts'
import { refusal } from '../refusal.ts'
import { author, memoryKey } from '../schemas.ts'
import type { ByteBudget } from './budget.ts'

const CHANGES = ['created', 'updated', 'deleted', 'restored', 'renamed'] as const

interface Entry {
  readonly change: (typeof CHANGES)[number]
  /** Of what was renamed: the key that it had before. */
  readonly from?: string | undefined
  readonly event: HomeEvent
}

export const otherSchema = z
  .object({
    key: memoryKey,
    change: z.enum(CHANGES).meta({
      description:
        'All that happened to the memory together: what was created and then updated is created. deleted: nothing has the key now.',
    }),
    from: memoryKey.optional().meta({ description: 'Of what was renamed: its key before.' }),
    version: z.int().min(1).optional(),
    by: author,
    at: dateTime,
  })
  .meta({ id: 'OtherChange', description: 'By whom and when: of the last change.' })

/** A rename to a key out of reach takes the memory away, and one from there brings it. */
function renamed(event: HomeEvent, before: Entry | undefined): Entry {
  const { key, from } = event
  if (key === undefined) return { change: 'deleted', event }
  if (from === undefined || before?.change === 'created') return { change: 'created', event }
  const first = before?.from ?? from
  return first === key ? { change: 'updated', event } : { change: 'renamed', from: first, event }
}

/** `isFree`: a rename has left the key. */
function changed(event: OthersEvent, before: Entry | undefined, isFree: boolean): Entry {
  if (event.type === 'delete' || event.type === 'erase')
    return { ...before, change: 'deleted', event }
  if (before && before.change !== 'deleted') return { ...before, event }
  if (event.type === 'restore') return { change: 'restored', event }
  const isNew = before !== undefined || isFree || event.version === 1 || event.creates === true
  return { change: isNew ? 'created' : 'updated', event }
}

/** By key, in the order of the last change. */
export function entriesOf(events: readonly OthersEvent[]): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  const left = new Set<string>()
  for (const event of events) {
    const { type, key, from, version } = event
    // An erasure of earlier versions changes nothing.
    if (type === 'erase' && version === undefined) continue
    const old = from ?? key ?? ''
    const before = entries.get(old)
    entries.delete(old)
    const now = key ?? old
    entries.delete(now)
    const isRename = type === 'rename'
    entries.set(now, isRename ? renamed(event, before) : changed(event, before, left.has(now)))
    if (isRename) left.add(old)
    left.delete(now)
  }
  return entries
}

const entryJson = (key: string, { change, from, event }: Entry): string => {
  const { version, by = null, createdAt } = event
  return JSON.stringify({ key, change, from, version, by, at: iso(createdAt) })
}

export interface FoundOthers {
  readonly entries: ReadonlyMap<string, Entry>
  /** False: there may be earlier ones, pruned or too far back in the log. */
  readonly isWhole: boolean
}

/** Throws if the identity is refused. */
export async function findOthers({ store, clock }: Home, identity: Identity): Promise<FoundOthers> {
  const found = await store.eventsByOthers(identity, '')
  if (found.outcome !== 'others') throw refusal(found)
  const now = clock()
  if ((found.wokeAt ?? 0) < startOfDay(now)) {
    // A wake that cannot be recorded fails no request: more is told the next time.
    await store.noteWake(identity, found.last, now).catch(() => undefined)
  }
  return { entries: entriesOf(found.events), isWhole: found.isWhole }
}

/** The largest share of a context that they take. */
const SHARE = 1 / 3

/** The last of them that fit, as JSON. */
export function fillOthers({ entries }: FoundOthers, budget: ByteBudget): readonly string[] {
  const keep = Math.ceil(budget.left() * (1 - SHARE))
  const shown: string[] = []
  for (const [key, entry] of [...entries].toReversed()) {
    const item = entryJson(key, entry)
    if (!budget.take(item, keep)) break
    shown.push(item)
  }
  return shown.toReversed()
}
