/**
 * Rolls a home back: the log tells what changed since, the versions of then become the next ones,
 * as an import of them does.
 */
import type { Identity, Refused } from './port/home.ts'
import type { EventStore, HomeEvent } from './port/keeping/events.ts'
import type {
  KeptVersion,
  RollbackAnswer,
  RollbackOrder,
  TakenBack,
  TransferStore,
} from './port/transfer.ts'
import type { Line, StateBefore } from './verbs/states-before.ts'

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

const isBy = ({ by }: HomeEvent, wanted: string | undefined): boolean =>
  wanted === undefined || (by?.key?.id ?? by?.as) === wanted

/** Follows the memories of then through all that happened since, oldest event first. */
export function followLines(by?: string) {
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
    if (there?.now === key) there.now = undefined
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
      if (isBy(event, by)) for (const line of touched) line.isTouched = true
    },
    /** By key. */
    lines: (prefix: string): readonly OpenLine[] =>
      [...lines.values()]
        .filter(({ key, isTouched }) => isTouched && key.startsWith(prefix))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}

export interface RollbackParts extends Pick<EventStore, 'eventsAfter' | 'listEvents'> {
  readonly importMemories: TransferStore['importMemories']
  readonly statesBefore: (
    agentId: string,
    lines: readonly Line[],
  ) => Promise<readonly StateBefore[]>
}

/** Lines that are looked up at once; more would delay others. */
const AT_ONCE = 4

const EVENTS_AT_ONCE = 200

type Since = { readonly outcome: 'since'; readonly lines: readonly Line[] }

/** Whether keys had memories, by the last event of each up to `to`. */
async function wereThere(
  { listEvents }: RollbackParts,
  identity: Identity,
  to: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const wanted = new Set(keys)
  const found = new Map<string, boolean>()
  const see = (key: string | undefined, isThere: boolean): void => {
    if (key !== undefined && wanted.delete(key)) found.set(key, isThere)
  }
  for (let after: number | undefined = to + 1; after !== undefined && wanted.size > 0; ) {
    const query = { order: 'newest', after, prefix: '', limit: EVENTS_AT_ONCE } as const
    const page = await listEvents(identity, query)
    if (page.outcome !== 'page') return found
    for (const event of page.events.filter(isChange)) {
      see(event.key, event.type !== 'delete' && event.type !== 'erase')
      see(event.from, false)
    }
    after = page.next
  }
  return found
}

async function linesSince(
  parts: RollbackParts,
  identity: Identity,
  { to, prefix, by }: RollbackOrder,
): Promise<Since | Extract<RollbackAnswer, { outcome: 'no_event' | 'event_gone' }> | Refused> {
  const { eventsAfter, listEvents } = parts
  const log = await eventsAfter(identity, to, 1)
  if (log.outcome !== 'events') return log
  if (to > log.last) return { outcome: 'no_event' }
  if (to + 1 < log.first) return { outcome: 'event_gone', first: log.first }
  const following = followLines(by)
  for (let after: number | undefined = to; after !== undefined; ) {
    const query = { order: 'oldest', after, prefix: '', limit: EVENTS_AT_ONCE } as const
    const page = await listEvents(identity, query)
    if (page.outcome !== 'page') return page
    for (const event of page.events) following.meet(event)
    after = page.next
  }
  const lines = following.lines(prefix)
  const keys = lines.map(({ key }) => key)
  const there = await wereThere(parts, identity, to, keys)
  const unknown = log.first === 1 ? false : undefined
  const known = lines.map((line) => ({ ...line, wasThere: there.get(line.key) ?? unknown }))
  return { outcome: 'since', lines: known }
}

/** The next version of a key; its number, and the time, are given later. */
const versionOf = ({ key, was }: StateBefore): KeptVersion => {
  const facts = { key, version: 1, by: undefined, updatedAt: 0 }
  if (was === undefined || was === 'gone') {
    return { ...facts, id: '', createdAt: 0, operation: 'delete', content: undefined }
  }
  const { id, createdAt, text, metadata } = was
  return { ...facts, id, createdAt, operation: 'restore', content: { text, metadata } }
}

/** May be read several times; counts anew each time. */
function statesThen({ statesBefore }: RollbackParts, agentId: string, lines: readonly Line[]) {
  const told = { unchanged: 0, skipped: [] as string[], changes: [] as TakenBack[] }
  async function* read(): AsyncGenerator<readonly KeptVersion[]> {
    told.unchanged = 0
    told.skipped = []
    told.changes = []
    for (let at = 0; at < lines.length; at += AT_ONCE) {
      const states = await statesBefore(agentId, lines.slice(at, at + AT_ONCE))
      const changed = states.filter(({ was, isSame }) => !isSame && was !== 'gone')
      told.skipped.push(...states.filter(({ was }) => was === 'gone').map(({ key }) => key))
      told.changes.push(...changed.map(({ key, place: was }) => ({ key, was })))
      told.unchanged += states.filter(({ isSame }) => isSame).length
      if (changed.length > 0) yield changed.map(versionOf)
    }
  }
  return { told, source: { [Symbol.asyncIterator]: read } }
}

export const rollBackVerb =
  (parts: RollbackParts): TransferStore['rollBack'] =>
  async (identity, order, now) => {
    const since = await linesSince(parts, identity, order)
    if (since.outcome !== 'since') return since
    const { told, source } = statesThen(parts, identity.agentId, since.lines)
    const asked = { onConflict: 'replace', dryRun: order.dryRun, rollbackTo: order.to } as const
    const answer = await parts.importMemories(identity, source, asked, now)
    if (answer.outcome === 'conflict') throw new Error('a rollback has no conflicts')
    if (answer.outcome !== 'imported') return answer
    const { imported, deleted = 0 } = answer
    return { outcome: 'rolled_back', restored: imported - deleted, deleted, ...told }
  }
