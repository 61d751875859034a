/** What a home does with agents and their memories; and commands that hold the real one to it. */
import type fc from 'fast-check'
import { expect } from 'vitest'
import { type Answer, birthBody, freshKey, type TestService } from '../harness.ts'
import { type Memories, textOf } from '../register.ts'

interface ModelEvent {
  readonly type: string
  readonly key: string
  /** Of a rename. */
  readonly from?: string
  /** Undefined where it made none. */
  readonly version: number | undefined
}

export interface ModelAgent {
  readonly name: string
  /** Presented as they are; the last agent token is the valid one. */
  readonly tokens: string[]
  readonly operatorToken: string
  status: 'active' | 'paused'
  memories: Memories
  readonly events: ModelEvent[]
  /** What it can be rolled back to; nothing has been erased since. */
  mark: Mark | undefined
}

interface Mark {
  /** Of the last event. */
  readonly id: number
  /** Of the living, by key. */
  readonly texts: ReadonlyMap<string, string | undefined>
  /** How many of the model's events came before. */
  readonly events: number
}

export interface Model {
  /** By the slot of its Idempotency-Key. */
  readonly agents: Map<number, ModelAgent>
}

export interface Real {
  readonly service: TestService
  /** The Idempotency-Keys of this run, by slot. */
  readonly keys: readonly string[]
}

export const SLOTS = 3

export const begin = (service: TestService): { model: Model; real: Real } => ({
  model: { agents: new Map() },
  real: { service, keys: Array.from({ length: SLOTS }, freshKey) },
})

export type Who = 'agent' | 'operator' | 'revoked'

/** The code of the refusal, or `ok`. */
export const outcome = ({ status, body }: Answer): string =>
  status < 300 ? 'ok' : String(body.code)

const tokenOf = (agent: ModelAgent, who: Who): string | undefined => {
  if (who === 'operator') return agent.operatorToken
  return who === 'agent' ? agent.tokens.at(-1) : agent.tokens.at(-2)
}

type Step = (model: Model, real: Real) => Promise<void>

const command = (text: string, run: Step): fc.AsyncCommand<Model, Real> => ({
  check: () => true,
  run,
  toString: () => text,
})

/** A step of one agent with one of its tokens; nothing where either is not there yet. */
export function act(
  name: string,
  slot: number,
  who: Who,
  step: (agent: ModelAgent, call: TestService['call'], token: string) => Promise<void>,
): fc.AsyncCommand<Model, Real> {
  return command(`${name} slot ${slot} as ${who}`, async ({ agents }, { service }) => {
    const agent = agents.get(slot)
    const token = agent && tokenOf(agent, who)
    if (agent && token !== undefined) await step(agent, service.call, token)
  })
}

/** Why a call with this token must be refused before it is looked at, or undefined. */
export function refusal(agent: ModelAgent, who: Who, operatorOnly: boolean): string | undefined {
  if (who === 'revoked') return 'invalid_token'
  if (who === 'operator') return undefined
  if (operatorOnly) return 'insufficient_scope'
  return agent.status === 'paused' ? 'agent_paused' : undefined
}

export const living = ({ memories }: ModelAgent) =>
  Object.entries(memories).flatMap(([key, { versions, protected: isProtected }]) => {
    const text = textOf(versions)
    const memory = { key, text, version: versions.length - 1 }
    return text === undefined ? [] : [isProtected ? { ...memory, protected: true } : memory]
  })

/** By key, as lists show them. */
export const listed = (agent: ModelAgent) =>
  living(agent)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map((memory) => expect.objectContaining(memory))

export const birth = (slot: number, name: string) =>
  command(`birth slot ${slot} "${name}"`, async ({ agents }, { service, keys }) => {
    const answer = await service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': keys[slot] ?? '' },
      body: { ...birthBody, name },
    })
    const { token, operator_token: operatorToken } = answer.body
    const known = agents.get(slot)
    if (!known) {
      expect(answer.status).toBe(201)
      agents.set(slot, {
        name,
        tokens: [String(token)],
        operatorToken: String(operatorToken),
        status: 'active',
        memories: {},
        events: [],
        mark: undefined,
      })
    } else if (known.tokens.length > 1) expect(outcome(answer)).toBe('credentials_rotated')
    else if (known.name !== name) expect(outcome(answer)).toBe('birth_conflict')
    else {
      expect(answer.status).toBe(200)
      expect([token, operatorToken]).toEqual([known.tokens[0], known.operatorToken])
    }
  })

export const profile = (slot: number, who: Who) =>
  act('profile', slot, who, async (agent, call, token) => {
    const answer = await call('GET', '/api/agents/me', { token })
    expect(outcome(answer)).toBe(who === 'revoked' ? 'invalid_token' : 'ok')
    if (who === 'revoked') return
    const { name, status } = agent
    const memoryCount = living(agent).length
    expect(answer.body).toMatchObject({ profile: { name, status }, memoryCount })
  })

export const setStatus = (slot: number, who: Who, status: ModelAgent['status']) =>
  act(`set ${status}`, slot, who, async (agent, call, token) => {
    const answer = await call('PATCH', '/api/agents/me', { token, body: { status } })
    const refused = refusal(agent, who, true)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    agent.status = status
    expect(answer.body).toMatchObject({ profile: { status } })
  })

export const rotate = (slot: number, who: Who) =>
  act('rotate', slot, who, async (agent, call, token) => {
    const answer = await call('POST', '/api/agents/me/keys', { token })
    const refused = refusal(agent, who, true)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (!refused) agent.tokens.push(String(answer.body.token))
  })

export const exportAll = (slot: number, who: Who) =>
  act('export', slot, who, async (agent, call, token) => {
    const answer = await call('GET', '/api/agents/me/export', { token })
    const refused = refusal(agent, who, false)
    expect(outcome(answer)).toBe(refused ?? 'ok')
    if (refused) return
    const memories = listed(agent)
    expect(answer.body).toMatchObject({ memoryCount: memories.length })
    expect(answer.body.memories).toEqual(memories)
  })
