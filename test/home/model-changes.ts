/** What becomes of memories in the model of the home: as in the register, and told in its log. */
import { expect } from 'vitest'
import type { Asked, Outcome } from '../asked.ts'
import { memoryPath } from '../harness.ts'
import {
  absent,
  at,
  type By,
  batch,
  change,
  current,
  erase as erased,
  kept,
  latest,
  lay,
  type Memories,
  protect as protectedAs,
  textOf,
} from '../register.ts'
import { batchOf, outcomeOf, outcomesOf, requestOf } from '../spelled.ts'
import { act, listed, living, type ModelAgent, outcome, refusal, type Who } from './model.ts'

/** With the version that it expects, if it does, told by how far that is behind the current one. */
export interface Wish {
  readonly asked: Asked
  readonly behind: number
}

function asking(memories: Memories, { asked, behind }: Wish): Asked {
  if (asked.expectedVersion === undefined) return asked
  const now = current(at(memories, asked.key).versions)
  return { ...asked, expectedVersion: Math.max(0, now - behind) }
}

const byOf = (who: Who): By => (who === 'operator' ? 'operator' : 'agent')

function happen(agent: ModelAgent, asked: Asked, told: Outcome | undefined): void {
  if (told?.is !== 'saved' && told?.is !== 'deleted') return
  const { kind: type, key } = asked
  const under = asked.kind === 'rename' ? { key: asked.to, from: key } : { key }
  agent.events.push({ type, ...under, version: told.version })
}

/** Whether what was sent is what is there, of those that were refused for their version. */
function isSame(memories: Memories, asked: Asked): boolean {
  const isWhole = asked.kind === 'write' || asked.kind === 'patch'
  return isWhole && textOf(at(memories, asked.key).versions) === asked.payload
}

const nameOf = ({ asked, behind }: Wish): string => `${JSON.stringify(asked)} ${behind} behind`

export const make = (slot: number, who: Who, wish: Wish) =>
  act(nameOf(wish), slot, who, async (agent, call, token) => {
    const asked = asking(agent.memories, wish)
    const [method, path, body] = requestOf(asked)
    const answer = await call(method, `/api/agents/me${path}`, { token, body })
    const refused = refusal(agent, who, false)
    if (refused) return expect(outcome(answer)).toBe(refused)
    const { told, memories } = change(agent.memories, asked, byOf(who))
    expect(outcomeOf(asked, answer)).toEqual(told)
    if (told.is === 'conflict' && asked.kind !== 'rename') {
      expect(answer.body.sameContent).toBe(isSame(agent.memories, asked))
    }
    agent.memories = memories
    happen(agent, asked, told)
  })

/** Several in one, each on what those before it made: together or not at all. */
export const makeAll = (slot: number, who: Who, wishes: readonly Wish[]) =>
  act(`all of ${wishes.map(nameOf).join(', ')}`, slot, who, async (agent, call, token) => {
    let now = agent.memories
    const asked = wishes.map((wish) => {
      const each = asking(now, wish)
      now = change(now, each, byOf(who)).memories
      return each
    })
    const [method, path, body] = batchOf(asked)
    const answer = await call(method, `/api/agents/me${path}`, { token, body })
    const refused = refusal(agent, who, false)
    if (refused) return expect(outcome(answer)).toBe(refused)
    const { told, memories } = batch(agent.memories, asked, byOf(who))
    expect(outcomesOf(asked, answer)).toEqual(told)
    if (told.every(({ is }) => is === 'saved' || is === 'deleted')) {
      for (const [n, each] of asked.entries()) happen(agent, each, told[n])
    }
    agent.memories = memories
  })

const isKnown = ({ memories }: ModelAgent, key: string): boolean => key in memories

export const erase = (slot: number, who: Who, key: string, versions: 'all' | 'history') =>
  act(`erase ${versions} of ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('POST', `${memoryPath}/erase`, { token, body: { key, versions } })
    const absent = isKnown(agent, key) ? undefined : 'memory_not_found'
    const refused = refusal(agent, who, true) ?? absent
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    const before = at(agent.memories, key).versions
    agent.memories = erased(agent.memories, key, versions)
    const after = at(agent.memories, key).versions
    const stay = new Set(kept(after))
    const gone = kept(before).filter((version) => !stay.has(version))
    expect(answer.body.erased).toEqual({ key, versions: gone })
    const version = after.length > before.length ? latest(after) : undefined
    agent.mark = undefined
    agent.events.push({ type: 'erase', key, version })
  })

export const protect = (slot: number, who: Who, key: string, isProtected: boolean) =>
  act(`${isProtected ? 'protect' : 'unprotect'} ${key}`, slot, who, async (agent, call, token) => {
    const body = { key, protected: isProtected }
    const answer = await call('POST', `${memoryPath}/protect`, { token, body })
    const memory = at(agent.memories, key)
    const version = current(memory.versions)
    const refused = refusal(agent, who, true) ?? (version > 0 ? undefined : 'memory_not_found')
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    expect(answer.body.memory).toEqual({ key, version, protected: isProtected })
    if (memory.protected === isProtected) return
    agent.memories = protectedAs(agent.memories, key, isProtected)
    agent.events.push({ type: isProtected ? 'protect' : 'unprotect', key, version: undefined })
  })

export const read = (slot: number, who: Who, key: string) =>
  act(`read ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('GET', `${memoryPath}?key=${key}`, { token })
    const memory = living(agent).find((each) => each.key === key)
    const refused = refusal(agent, who, false) ?? (memory ? undefined : 'memory_not_found')
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (memory && !refused) {
      // Its ETag is the version, which protecting does not change: lists tell what is protected.
      const { text, version } = memory
      expect(answer.body.memory).toMatchObject({ key, text, version })
      expect(answer.body.memory).not.toHaveProperty('protected')
    }
    if (refused === 'memory_not_found') {
      const left = latest(at(agent.memories, key).versions)
      expect(answer.body.deletedVersion).toBe(left || undefined)
    }
  })

export const versions = (slot: number, who: Who, key: string) =>
  act(`versions of ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('GET', `${memoryPath}/versions?key=${key}`, { token })
    const refused =
      refusal(agent, who, false) ?? (isKnown(agent, key) ? undefined : 'memory_not_found')
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    const those = kept(at(agent.memories, key).versions).toReversed()
    expect(answer.body.versions).toMatchObject(those.map((version) => ({ version })))
  })

const codeOf = ({ is }: Outcome): string => (is === 'gone' ? 'version_gone' : 'version_not_found')

export const readVersion = (slot: number, who: Who, key: string, version: number) =>
  act(`read ${version} of ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('GET', `${memoryPath}?key=${key}&version=${version}`, { token })
    const past = at(agent.memories, key).versions
    const fault = isKnown(agent, key) ? codeOf(absent(past, version)) : 'memory_not_found'
    const text = past[version]
    const refused = refusal(agent, who, false) ?? (text ? undefined : fault)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (!refused) expect(answer.body.memory).toMatchObject({ key, version, text })
  })

export const list = (slot: number, who: Who) =>
  act('list', slot, who, async (agent, call, token) => {
    const answer = await call('GET', '/api/agents/me/memories?view=whole', { token })
    const refused = refusal(agent, who, false)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (!refused) expect(answer.body.memories).toEqual(listed(agent))
  })

const textsOf = (agent: ModelAgent) => new Map(living(agent).map(({ key, text }) => [key, text]))

/** Remembers what it could be rolled back to. */
export const mark = (slot: number) =>
  act('mark', slot, 'operator', async (agent, call, token) => {
    const { body } = await call('GET', '/api/agents/me/events?order=newest&limit=1', { token })
    const [last] = body.events as readonly Seen[]
    const texts = textsOf(agent)
    agent.mark = { id: last?.id ?? 0, texts, events: agent.events.length }
  })

/** Everything becomes what it was, as new versions of what changed since, and of nothing else. */
export const rollBack = (slot: number, who: Who) =>
  act('roll back', slot, who, async (agent, call, token) => {
    if (!agent.mark) return
    const { id: to, texts, events } = agent.mark
    const answer = await call('POST', '/api/agents/me/rollback', { token, body: { to } })
    const refused = refusal(agent, who, true)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    const { restored, deleted } = answer.body as Readonly<Record<string, number>>
    const parts = Number(restored) + Number(deleted)
    const newest = `/api/agents/me/events?order=newest&limit=${parts + 2}`
    const log = (await call('GET', newest, { token })).body.events as readonly Seen[]
    // One that changes nothing is no event.
    if (parts > 0) {
      expect(log.at(-1)).toMatchObject({ type: 'rollback', rollback: { to, parts } })
      expect(log[0]).toMatchObject({ type: 'end_rollback' })
    }
    const since = new Set(agent.events.slice(events).flatMap(({ key, from }) => [key, from]))
    for (const { type, key = '', version } of log.slice(1, parts + 1).toReversed()) {
      const text = texts.get(key)
      expect(since).toContain(key)
      agent.memories = lay(agent.memories, key, text ?? null)
      const made = latest(at(agent.memories, key).versions)
      expect({ type, version }).toEqual({ type: text ? 'restore' : 'delete', version: made })
      agent.events.push({ type, key, version })
    }
    expect(answer.body.skipped).toEqual([])
    expect(textsOf(agent)).toEqual(texts)
  })

interface Seen {
  readonly id: number
  readonly type: string
  readonly key?: string
  readonly from?: string
  readonly version?: number
}

/** What else happens in a home has its events too, without a key. */
export const events = (slot: number, who: Who) =>
  act('events', slot, who, async (agent, call, token) => {
    const answer = await call('GET', '/api/agents/me/events?limit=1000', { token })
    const refused = refusal(agent, who, false)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    const all = answer.body.events as readonly Seen[]
    expect(all.map(({ id }) => id)).toEqual(all.map((_, at) => at + 1))
    const ofMemories = all.filter(({ key }) => key !== undefined)
    expect(
      ofMemories.map(({ type, key, from, version }) => ({ type, key, from, version })),
    ).toEqual(agent.events)
  })
