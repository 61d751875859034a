/** Which memories changed since an event, and what they were before. */
import type { Back, BatchStore, Taken, Wanted } from './batches.ts'
import type { Brought } from './bring.ts'
import { sizeOf } from './change.ts'
import { type HomeEvent, ROWS_PER_LOOK } from './port/events.ts'
import type { KeptVersion } from './port/transfer.ts'
import { EVENTS_AT_ONCE } from './verbs/event-pages.ts'
import type { Line, StateBefore, Then } from './verbs/states-before.ts'

/** Whose memory is under a key now: the key that it had then; null if it is new. */
type Origins = Map<string, string | null>

interface OpenLine extends Omit<Line, 'now' | 'wasThere'> {
  now: string | undefined
  /** Whether the wanted author has changed it since. */
  isTouched: boolean
}

/** Events that change which text is under a key. */
const isChange = ({ type, key, version }: HomeEvent): boolean =>
  key !== undefined && version !== undefined && type !== 'protect' && type !== 'unprotect'

/** Whose changes; undefined: anybody's. */
type Whose = Pick<Wanted, 'by' | 'run'>

const isBy = ({ by }: HomeEvent, wanted: Whose): boolean =>
  (wanted.by === undefined || (by?.key?.id ?? by?.as) === wanted.by) &&
  (wanted.run === undefined || by?.run === wanted.run)

/** Follows the memories of then through all that happened since, oldest event first. */
export function followLines(wanted: Whose = {}) {
  const lines = new Map<string, OpenLine>()
  const origins: Origins = new Map()

  function open(key: string, event: HomeEvent, now: string | undefined): OpenLine {
    const { id: eventId, type, version: before = 1 } = event
    const line = { key, now, before, type, eventId, isTouched: false }
    lines.set(key, line)
    return line
  }

  /** The lines of a key that an event is about: its own, and that of the memory under it. */
  function linesOf(key: string, event: HomeEvent): OpenLine[] {
    if (!origins.has(key)) {
      origins.set(key, key)
      return [open(key, event, key)]
    }
    const origin = origins.get(key) ?? key
    return [key, origin].flatMap((each) => lines.get(each) ?? [])
  }

  function rename(from: string, event: HomeEvent & { readonly key: string }): OpenLine[] {
    const touched = linesOf(from, event)
    const { key } = event
    const there = lines.get(key)
    // Whatever was there has no versions left, as after version 1: otherwise the key was taken.
    for (const each of [there, lines.get(origins.get(key) ?? '')]) {
      if (each?.now === key) each.now = undefined
    }
    touched.push(there ?? open(key, { ...event, version: 1 }, undefined))
    const origin = origins.get(from) ?? null
    const moved = origin === null ? undefined : lines.get(origin)
    if (moved) moved.now = key
    origins.set(key, origin)
    origins.set(from, null)
    return touched
  }

  return {
    meet(event: HomeEvent): void {
      const { key, from } = event
      if (key === undefined || !isChange(event)) return
      const touched = from === undefined ? linesOf(key, event) : rename(from, { ...event, key })
      if (isBy(event, wanted)) for (const line of touched) line.isTouched = true
    },
    /** By key. */
    lines: (prefix: string): readonly OpenLine[] =>
      [...lines.values()]
        .filter(({ key, isTouched }) => isTouched && key.startsWith(prefix))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}

/** An import without a text is of a deletion. */
const endsMemory = ({ type, content }: HomeEvent): boolean =>
  type === 'delete' || type === 'erase' || (type === 'import' && content === undefined)

/** Events in order from after one up to another. */
async function* eventsUntil(
  { eventsBetween }: BatchStore,
  agentId: string,
  { after, until }: { readonly after: number; readonly until: number },
): AsyncGenerator<HomeEvent> {
  for (let from = after; from < until; ) {
    const to = Math.min(until, from + ROWS_PER_LOOK)
    const events = await eventsBetween(agentId, 'oldest', from, to)
    yield* events
    from = events.length < EVENTS_AT_ONCE ? to : (events.at(-1)?.id ?? to)
  }
}

/** Whether keys had memories, by the last event of each up to `to`. */
async function wereThere(
  { eventsBetween }: BatchStore,
  agentId: string,
  { first, to }: { readonly first: number; readonly to: number },
  keys: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const wanted = new Set(keys)
  const found = new Map<string, boolean>()
  const see = (key: string | undefined, isThere: boolean): void => {
    if (key !== undefined && wanted.delete(key)) found.set(key, isThere)
  }
  for (let until = to; until >= first && wanted.size > 0; ) {
    const after = Math.max(first - 1, until - ROWS_PER_LOOK)
    const events = await eventsBetween(agentId, 'newest', after, until)
    for (const event of events.filter(isChange)) {
      see(event.key, !endsMemory(event))
      see(event.from, false)
    }
    until = events.length < EVENTS_AT_ONCE ? after : (events.at(-1)?.id ?? after + 1) - 1
  }
  return found
}

/** The memories that changed after an event and up to another, as they were right after it. */
export async function changedUntil(
  store: BatchStore,
  agentId: string,
  until: number,
  { to, prefix, ...whose }: Wanted,
): Promise<readonly Line[]> {
  const following = followLines(whose)
  for await (const event of eventsUntil(store, agentId, { after: to, until })) {
    following.meet(event)
  }
  const lines = following.lines(prefix)
  const { first = 1 } = (await store.retainedEvents(agentId)) ?? {}
  const keys = lines.map(({ key }) => key)
  const there = await wereThere(store, agentId, { first, to }, keys)
  const unknown = first === 1 ? false : undefined
  return lines.map((line) => ({ ...line, wasThere: there.get(line.key) ?? unknown }))
}

/** What others did to keys since an import began, beside what it did itself. */
function followImport() {
  const following = followLines()
  /** Whether there was a memory right before the import's first change. */
  const there = new Map<string, boolean>()
  const changed = new Set<string>()
  /** Those that somebody has protected, or not, since the import changed them. */
  const marked = new Set<string>()
  return {
    there,
    meet(event: HomeEvent): void {
      const { key, from, type } = event
      if (key === undefined) return
      if (type === 'import') {
        following.meet(event)
        changed.add(key)
      } else if (changed.has(key)) marked.add(key)
      else if (isChange(event)) {
        there.set(key, !endsMemory(event))
        if (from !== undefined && !changed.has(from)) there.set(from, false)
      }
    },
    lines: () =>
      following.lines('').map((line) => ({ ...line, unprotects: !marked.has(line.key) })),
  }
}

/** The memories that an import has changed since it began, as they were right before. */
export async function changedByImport(
  store: BatchStore,
  agentId: string,
  event: number,
): Promise<readonly Line[]> {
  const { first = 1, last = event } = (await store.retainedEvents(agentId)) ?? {}
  const { there, meet, lines } = followImport()
  for await (const each of eventsUntil(store, agentId, { after: event, until: last })) meet(each)
  const all = lines()
  const unknown = all.map(({ key }) => key).filter((key) => !there.has(key))
  const before = await wereThere(store, agentId, { first, to: event }, unknown)
  const otherwise = first === 1 ? false : undefined
  const wasThere = (key: string) => there.get(key) ?? before.get(key) ?? otherwise
  return all.map((line) => ({ ...line, wasThere: wasThere(line.key) }))
}

/** The next version of a key; its number, and the time, are given later. */
function versionOf({ key, unprotects }: Back, was: Then | undefined): KeptVersion {
  const marks = unprotects ? { protected: false } : {}
  const facts = { key, version: 1, by: undefined, updatedAt: 0, ...marks }
  if (!was) return { ...facts, id: '', createdAt: 0, operation: 'delete', content: undefined }
  const { id, createdAt, text, metadata } = was
  return { ...facts, id, createdAt, operation: 'restore', content: { text, metadata } }
}

/** A key to be taken back, and what is in the row of its version; undefined if it is gone. */
interface Found {
  readonly back: Back
  readonly was: Then | undefined
}

/** What these bring, and what becomes of them. */
export function broughtBack(found: readonly Found[]): {
  readonly brought: readonly Brought[]
  readonly taken: Taken
} {
  const isGone = ({ back, was }: Found): boolean => back.n !== null && !was
  const kept = found.filter((each) => !isGone(each))
  return {
    brought: kept.map(({ back, was }) => ({
      ...{ key: back.key, found: 1 },
      versions: [versionOf(back, was)],
    })),
    taken: {
      skipped: found.filter(isGone).map(({ back }) => back.key),
      changes: kept.map(({ back: { key, was } }) => ({ key, was })),
    },
  }
}

/** Lines that are looked up at once; more would delay others. */
const LINES_AT_ONCE = 4

/** What becomes of some lines. */
interface Fates {
  /** Those that are as they were. */
  unchanged: number
  /** Keys whose version of then is not retained. */
  readonly skipped: string[]
  readonly back: Found[]
}

function sortInto(fates: Fates, line: Line, { key, was, place, n, ...state }: StateBefore): void {
  const unprotects = line.unprotects === true && state.isProtected
  if (state.isSame && !unprotects) fates.unchanged++
  else if (was === 'gone') fates.skipped.push(key)
  else fates.back.push({ back: { key, n: n ?? null, was: place, unprotects }, was })
}

/** What each line was before, and whether it has to be taken back. */
export async function* fatesOf(
  { stateBefore }: BatchStore,
  agentId: string,
  lines: readonly Line[],
): AsyncGenerator<Fates> {
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    const some = lines.slice(at, at + LINES_AT_ONCE)
    const states = await Promise.all(some.map((line) => stateBefore(agentId, line)))
    const fates: Fates = { unchanged: 0, skipped: [], back: [] }
    for (const [i, line] of some.entries()) sortInto(fates, line, states[i] as StateBefore)
    yield fates
  }
}

/** What is written for a key that is taken back. */
export const weightOf = (was: Then | undefined) => ({ versions: 1, bytes: was ? sizeOf(was) : 0 })
