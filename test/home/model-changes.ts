/** What becomes of memories, as the model of the home knows it: changes, their history, their log. */
import { expect } from 'vitest'
import { type Answer, memoryPath, type TestService } from '../harness.ts'
import {
  act,
  guarded,
  happen,
  listed,
  living,
  type ModelAgent,
  type ModelMemory,
  outcome,
  refusal,
  versionOf,
  type Who,
} from './model.ts'

type Call = TestService['call']

/** A change with the version that it expects; `fault` says why the model would not make it. */
function change(
  name: string,
  [slot, who, key, behind]: readonly [number, Who, string, number],
  make: {
    readonly send: (call: Call, token: string, expectedVersion: number) => Promise<Answer>
    readonly fault: (memory: ModelMemory | undefined, expectedVersion: number) => string | undefined
    readonly done: (agent: ModelAgent, answer: Answer) => void
  },
) {
  return act(`${name} ${key} (${behind} behind)`, slot, who, async (agent, call, token) => {
    const memory = agent.memories.get(key)
    const expectedVersion = Math.max(0, versionOf(memory) - behind)
    const answer = await make.send(call, token, expectedVersion)
    const refused = refusal(agent, who, false) ?? make.fault(memory, expectedVersion)
    const fault = refused ?? guarded(memory, who)
    expect(outcome(answer)).toBe(fault ?? 'ok')
    if (fault === undefined) make.done(agent, answer)
    else if (fault === 'version_conflict') {
      expect(answer.body.currentVersion).toBe(versionOf(memory))
      const gone = memory && memory.text === undefined
      expect(answer.body.deletedVersion).toBe(gone ? memory.version : undefined)
    }
  })
}

const conflict = (memory: ModelMemory | undefined, expectedVersion: number) =>
  versionOf(memory) === expectedVersion ? undefined : 'version_conflict'

const nextOf = (agent: ModelAgent, key: string): number =>
  (agent.memories.get(key)?.version ?? 0) + 1

/** The text is now a version more. */
function become(agent: ModelAgent, type: string, key: string, text: string, answer: Answer): void {
  const version = nextOf(agent, key)
  expect(answer.body.memory).toMatchObject({ key, text, version })
  happen(agent, type, key, { text, version })
}

type At = readonly [slot: number, who: Who, key: string, behind: number]

export const remove = (...at: At) =>
  change('delete', at, {
    send: (call, token, expectedVersion) =>
      call('DELETE', `${memoryPath}?key=${at[2]}&expectedVersion=${expectedVersion}`, { token }),
    fault: (memory, expectedVersion) =>
      memory?.text === undefined ? 'memory_not_found' : conflict(memory, expectedVersion),
    done(agent, answer) {
      const version = nextOf(agent, at[2])
      expect(answer.body.deleted).toMatchObject({ key: at[2], version })
      happen(agent, 'delete', at[2], { text: undefined, version })
    },
  })

export const patch = (slot: number, who: Who, key: string, text: string, behind: number) =>
  change('patch', [slot, who, key, behind], {
    send: (call, token, expectedVersion) =>
      call('PATCH', memoryPath, { token, body: { key, text, expectedVersion } }),
    fault: (memory, expectedVersion) =>
      memory?.text === undefined ? 'version_conflict' : conflict(memory, expectedVersion),
    done: (agent, answer) => become(agent, 'patch', key, text, answer),
  })

export const append = (slot: number, who: Who, key: string, text: string) =>
  change('append', [slot, who, key, 0], {
    send: (call, token) => call('POST', `${memoryPath}/append`, { token, body: { key, text } }),
    fault: () => undefined,
    done: (agent, answer) =>
      become(agent, 'append', key, `${agent.memories.get(key)?.text ?? ''}${text}`, answer),
  })

const countOf = (text: string, passage: string): number =>
  Array.from(text.split(''), (_, at) => text.startsWith(passage, at)).filter(Boolean).length

export const edit = (slot: number, who: Who, key: string, old: string, by: string) =>
  change('edit', [slot, who, key, 0], {
    send: (call, token) =>
      call('POST', `${memoryPath}/edit`, { token, body: { key, old, new: by } }),
    fault(memory) {
      if (memory?.text === undefined) return 'memory_not_found'
      const count = countOf(memory.text, old)
      if (count !== 1) return count ? 'edit_ambiguous' : 'edit_not_found'
      return by === '' && memory.text === old ? 'text_empty' : undefined
    },
    done: (agent, answer) =>
      become(
        agent,
        'edit',
        key,
        `${agent.memories.get(key)?.text}`.replace(old, () => by),
        answer,
      ),
  })

function restoreFault(memory: ModelMemory | undefined, version: number): string | undefined {
  if (memory?.past.has(version)) {
    return memory.past.get(version) === undefined ? 'version_not_found' : undefined
  }
  return version <= (memory?.version ?? 0) ? 'version_gone' : 'version_not_found'
}

export const restore = (slot: number, who: Who, key: string, version: number, behind: number) =>
  change(`restore ${version} of`, [slot, who, key, behind], {
    send: (call, token, expectedVersion) =>
      call('POST', `${memoryPath}/restore`, { token, body: { key, version, expectedVersion } }),
    fault: (memory, expectedVersion) =>
      conflict(memory, expectedVersion) ?? restoreFault(memory, version),
    done: (agent, answer) =>
      become(agent, 'restore', key, agent.memories.get(key)?.past.get(version) ?? '', answer),
  })

function renameFault({ memories }: ModelAgent, from: string, to: string): string | undefined {
  if (memories.get(from)?.text === undefined) return 'memory_not_found'
  const there = memories.get(to)
  return from === to || there?.text !== undefined || there?.past.size ? 'key_taken' : undefined
}

function rename(agent: ModelAgent, from: string, to: string): void {
  const before = agent.memories.get(from)
  if (!before) return
  const { text } = before
  const version = Math.max(before.version, agent.memories.get(to)?.version ?? 0) + 1
  happen(agent, 'rename', to, { text, version }, before)
  Object.assign(agent.events.at(-1) ?? {}, { from })
  agent.memories.set(from, {
    ...{ text: undefined, version: before.version + 1, past: new Map(), protected: false },
  })
}

/** A rename and a line in the log, together or not at all. */
export const renameAndLog = (slot: number, who: Who, from: string, to: string) =>
  act(`rename ${from} to ${to}, and log it`, slot, who, async (agent, call, token) => {
    const expectedVersion = versionOf(agent.memories.get(from))
    const operations = [
      { append: { key: 'log', text: '.' } },
      { rename: { from, to, expectedVersion } },
    ]
    const answer = await call('POST', '/api/agents/me/batch', { token, body: { operations } })
    const refused = refusal(agent, who, false)
    const fault = renameFault(agent, from, to) ?? guarded(agent.memories.get(from), who)
    expect(outcome(answer)).toBe(refused ?? (fault ? 'batch_conflict' : 'ok'))
    if (refused) return
    if (fault) {
      expect(answer.body.conflicts).toMatchObject([{ operation: 1, code: fault }])
      return
    }
    const text = `${agent.memories.get('log')?.text ?? ''}.`
    happen(agent, 'append', 'log', { text, version: nextOf(agent, 'log') })
    rename(agent, from, to)
    expect(answer.body.results).toMatchObject([
      { memory: { key: 'log', text } },
      { memory: { key: to, version: agent.memories.get(to)?.version } },
    ])
  })

export const erase = (slot: number, who: Who, key: string, versions: 'all' | 'history') =>
  act(`erase ${versions} of ${key}`, slot, who, async (agent, call, token) => {
    const body = { key, versions }
    const answer = await call('POST', `${memoryPath}/erase`, { token, body })
    const memory = agent.memories.get(key)
    const refused = refusal(agent, who, true) ?? (memory ? undefined : 'memory_not_found')
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused || !memory) return
    const stays = (version: number) => versions === 'history' && version === memory.version
    const gone = [...memory.past.keys()].filter((version) => !stays(version))
    expect(answer.body.erased).toEqual({ key, versions: gone.toSorted((a, b) => a - b) })
    const past = new Map([...memory.past].filter(([version]) => stays(version)))
    const isLast = versions === 'all' && memory.text !== undefined
    const version = memory.version + (isLast ? 1 : 0)
    const text = versions === 'all' ? undefined : memory.text
    const isProtected = text !== undefined && memory.protected
    agent.memories.set(key, { text, version, past, protected: isProtected })
    agent.mark = undefined
    agent.events.push({ type: 'erase', key, version: isLast ? version : undefined })
  })

export const protect = (slot: number, who: Who, key: string, isProtected: boolean) =>
  act(`${isProtected ? 'protect' : 'unprotect'} ${key}`, slot, who, async (agent, call, token) => {
    const body = { key, protected: isProtected }
    const answer = await call('POST', `${memoryPath}/protect`, { token, body })
    const memory = agent.memories.get(key)
    const absent = memory?.text === undefined ? 'memory_not_found' : undefined
    const refused = refusal(agent, who, true) ?? absent
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused || !memory) return
    expect(answer.body.memory).toEqual({ key, version: memory.version, protected: isProtected })
    if (memory.protected === isProtected) return
    agent.memories.set(key, { ...memory, protected: isProtected })
    agent.events.push({ type: isProtected ? 'protect' : 'unprotect', key, version: undefined })
  })

export const versions = (slot: number, who: Who, key: string) =>
  act(`versions of ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('GET', `${memoryPath}/versions?key=${key}`, { token })
    const memory = agent.memories.get(key)
    const refused = refusal(agent, who, false) ?? (memory ? undefined : 'memory_not_found')
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused || !memory) return
    const kept = [...memory.past.keys()].toSorted((a, b) => b - a)
    expect(answer.body.versions).toMatchObject(kept.map((version) => ({ version })))
  })

export const readVersion = (slot: number, who: Who, key: string, version: number) =>
  act(`read ${version} of ${key}`, slot, who, async (agent, call, token) => {
    const answer = await call('GET', `${memoryPath}?key=${key}&version=${version}`, { token })
    const memory = agent.memories.get(key)
    const absent = memory ? restoreFault(memory, version) : 'memory_not_found'
    const refused = refusal(agent, who, false) ?? absent
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    expect(answer.body.memory).toMatchObject({ key, version, text: memory?.past.get(version) })
  })

export const list = (slot: number, who: Who) =>
  act('list', slot, who, async (agent, call, token) => {
    const answer = await call('GET', '/api/agents/me/memories?view=whole', { token })
    const refused = refusal(agent, who, false)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    expect(answer.body.memories).toEqual(
      listed(agent).map((memory) => expect.objectContaining(memory)),
    )
  })

/** Remembers what it could be rolled back to. */
export const mark = (slot: number) =>
  act('mark', slot, 'operator', async (agent, call, token) => {
    const { body } = await call('GET', '/api/agents/me/events?order=newest&limit=1', { token })
    const [last] = body.events as readonly Seen[]
    const texts = new Map(living(agent).map(({ key, text }) => [key, text]))
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
    const newest = `/api/agents/me/events?order=newest&limit=${parts + 1}`
    const log = (await call('GET', newest, { token })).body.events as readonly Seen[]
    // One that changes nothing is no event.
    if (parts > 0) {
      expect(log.at(-1)).toMatchObject({ type: 'rollback', rollback: { to, parts } })
    }
    const since = new Set(agent.events.slice(events).flatMap(({ key, from }) => [key, from]))
    for (const { type, key = '', version } of log.slice(0, parts).toReversed()) {
      const text = texts.get(key)
      expect({ type, version }).toEqual({
        ...{ type: text === undefined ? 'delete' : 'restore', version: nextOf(agent, key) },
      })
      expect(since).toContain(key)
      happen(agent, type, key, { text, version: nextOf(agent, key) })
    }
    expect(answer.body.skipped).toEqual([])
    expect(new Map(living(agent).map(({ key, text }) => [key, text]))).toEqual(texts)
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
