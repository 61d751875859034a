/** The chain of a home, computed anew from what the store shows, without the code under test. */
import { createHash, createHmac } from 'node:crypto'
import type { HomeEvent } from '../../src/store/port/events.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Memory } from '../../src/store/port/memories.ts'
import type { Store } from '../../src/store/port/store.ts'

/** RFC 8785 of what our events hold: members in the order of their names, at every depth. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export const beginning = (agentId: string): string =>
  sha256('agent-home chain v1\n', agentId).toString('hex')

/** `event`: as the API shows it. */
export const nextHash = (previous: string, { hash: _, ...event }: Record<string, unknown>) =>
  sha256(Buffer.from(previous, 'hex'), sha256(canonical(event))).toString('hex')

export const shown = ({ by, createdAt, ...event }: HomeEvent): Record<string, unknown> => ({
  ...event,
  by: by ?? null,
  createdAt: new Date(createdAt).toISOString(),
})

export function commitment(salt: string, { text, metadata }: Pick<Memory, 'text' | 'metadata'>) {
  const bytes = Buffer.from(text)
  const length = Buffer.from(bytes.length.toString(16).padStart(8, '0'), 'hex')
  return createHmac('sha256', Buffer.from(salt, 'hex'))
    .update(Buffer.concat([length, bytes, Buffer.from(metadata)]))
    .digest('hex')
}

/** Every event that is retained, and what the first of them follows. */
export async function eventsOf(store: Store, identity: Identity, atOnce = 7) {
  const events: HomeEvent[] = []
  const first = await store.eventsAfter(identity, 0, atOnce)
  if (first.outcome !== 'events') throw new Error(`no events: ${first.outcome}`)
  for (let page = first; page.events.length > 0; ) {
    events.push(...page.events)
    const next = await store.eventsAfter(identity, events.at(-1)?.id ?? 0, atOnce)
    if (next.outcome !== 'events') throw new Error(`no events: ${next.outcome}`)
    page = next
  }
  return { previous: first.previous, events }
}

interface Checked {
  readonly faults: readonly string[]
  readonly events: readonly HomeEvent[]
  /** The versions whose texts an event was seen to commit to. */
  readonly proven: number
  /** Those that have no salt. */
  readonly unproven: number
}

/** Everything that does not fit: events, the head, and the texts of every version in an export. */
export async function checkChain(store: Store, identity: Identity): Promise<Checked> {
  const { previous, events } = await eventsOf(store, identity)
  const faults: string[] = []
  const fault = (says: string, isRight: boolean) => isRight || faults.push(says)
  let [id, hash] = [previous?.id ?? -1, previous?.hash ?? '']
  for (const event of events) {
    fault(`event ${event.id} comes after ${id}`, event.id === id + 1)
    hash = nextHash(hash, shown(event))
    fault(`event ${event.id} is not the one that was hashed`, event.hash === hash)
    id = event.id
  }
  const found = await store.readHead(identity)
  const head = found.outcome === 'head' ? found.head : undefined
  fault('the head is not the last event', head?.id === id && head.hash === hash)
  const base = found.outcome === 'head' ? found.base : undefined
  fault(
    'the base is not what comes first',
    base?.id === previous?.id && base?.hash === previous?.hash,
  )

  const committed = new Map(
    events.flatMap(({ content, version }) => (content ? [[content, version]] : [])),
  )
  let [proven, unproven] = [0, 0]
  const answer = await store.exportMemories(identity, '', true)
  if (answer.outcome !== 'export') throw new Error(`no export: ${answer.outcome}`)
  const current = new Map<string, Memory>()
  for await (const page of answer.memories) for (const each of page) current.set(each.key, each)
  for await (const page of answer.history ?? []) {
    for (const { key, version, salt, content, operation } of page) {
      if (operation === 'delete') continue
      const text = content ?? current.get(key)
      if (!text || salt === undefined) unproven++
      else if (committed.get(commitment(salt, text)) === version) proven++
      else faults.push(`version ${version} of ${key} is not what an event committed to`)
    }
  }
  const exported: HomeEvent[] = []
  for await (const page of answer.events?.pages ?? []) exported.push(...page)
  answer.close()
  fault('the export has other events', JSON.stringify(exported) === JSON.stringify(events))
  fault('the export begins elsewhere', answer.events?.previous.hash === previous?.hash)
  return { faults, events, proven, unproven }
}
