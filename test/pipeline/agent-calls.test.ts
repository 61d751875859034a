/** What agents ask for, as it is counted on the way of each request. */
import { expect, test } from 'vitest'
import { beginCall, type Call } from '../../src/http/call.ts'
import { countAgentCalls } from '../../src/pipeline/agent-calls.ts'
import type { Hooks } from '../../src/pipeline/routes.ts'
import type { CountedCalls } from '../../src/store/port/activity.ts'
import { incomingOf } from '../harness.ts'
import { manualTimers } from '../manual-timers.ts'

const DAY_MS = 86_400_000

function counting(failing = false) {
  const written: CountedCalls[][] = []
  const observed: number[] = []
  let now = 3 * DAY_MS
  const calls = countAgentCalls({
    store: {
      async countCalls(counted) {
        if (failing) throw new Error('out of reach')
        written.push(structuredClone([...counted]))
      },
    },
    clock: () => now,
    timers: manualTimers().timers,
  })
  const hooks = calls.observing({
    observe: (_, __, status) => void observed.push(status),
  } as Partial<Hooks> as Hooks)
  function ask(status: number, method = 'GET', notes: Call['notes'] = { agent: 'a', as: 'agent' }) {
    const call = beginCall('r', incomingOf(method, '/', {}), {})
    Object.assign(call.notes, notes)
    hooks.observe(call, 'route', status, 1)
  }
  function tick(ms: number) {
    now += ms
  }
  return { calls, written, observed, ask, tick }
}

const NONE = { reads: 0, conflicts: 0, refusals: 0 }

test.each([
  ['a read', 200, 'GET', { ...NONE, reads: 1 }],
  ['a read of what is known', 304, 'GET', { ...NONE, reads: 1 }],
  ['a read of what is not there', 404, 'GET', { ...NONE, reads: 1 }],
  ['a write that was saved, which the store counts', 200, 'POST', NONE],
  ['a write that came too late', 409, 'POST', { ...NONE, conflicts: 1 }],
  ['what is not accepted', 400, 'POST', { ...NONE, refusals: 1 }],
  ['what a paused agent asks for', 403, 'GET', { ...NONE, refusals: 1 }],
  ['what is too often', 429, 'GET', { ...NONE, refusals: 1 }],
  ['a failure of ours', 503, 'GET', NONE],
])('%s is counted as that, and seen', async (_, status, method, counts) => {
  const { calls, written, observed, ask } = counting()
  ask(status, method)
  await calls.flush()
  expect(written).toEqual([[{ agentId: 'a', day: 3, seenAt: 3 * DAY_MS, ...counts }]])
  expect(observed).toEqual([status])
})

test('what is asked for by the operator, or by nobody who is known, is not the agent’s', async () => {
  const { calls, written, ask } = counting()
  ask(200, 'GET', { agent: 'a', as: 'operator' })
  ask(401, 'GET', {})
  await calls.flush()
  expect(written).toEqual([])
})

test('each agent and each day is counted by itself, and nothing twice', async () => {
  const { calls, written, ask, tick } = counting()
  ask(200)
  ask(200)
  ask(200, 'GET', { agent: 'b', as: 'agent' })
  tick(DAY_MS)
  ask(409, 'POST')
  await calls.flush()
  await calls.flush()
  expect(written).toEqual([
    [
      { agentId: 'a', day: 3, ...NONE, reads: 2, seenAt: 3 * DAY_MS },
      { agentId: 'a', day: 4, ...NONE, conflicts: 1, seenAt: 4 * DAY_MS },
      { agentId: 'b', day: 3, ...NONE, reads: 1, seenAt: 3 * DAY_MS },
    ],
  ])
})

test('very many agents are written down in parts', async () => {
  const { calls, written, ask } = counting()
  for (let n = 0; n < 1_100; n++) ask(200, 'GET', { agent: `a${n}`, as: 'agent' })
  await calls.flush()
  expect(written.map((part) => part.length)).toEqual([500, 500, 100])
})

test('a store that does not answer fails nobody, and is asked again', async () => {
  const { calls, ask } = counting(true)
  ask(200)
  await calls.flush()
  ask(200)
  await calls.flush()
})

test('the last three refused calls of an agent are remembered, newest first', () => {
  const { calls, ask, tick } = counting()
  const codes = ['invalid_body', 'rate_limited', 'agent_paused', 'key_scope_exceeded']
  for (const code of codes) {
    tick(1)
    ask(400, 'POST', { agent: 'a', as: 'agent', code, key: code })
    ask(409, 'POST', { agent: 'a', as: 'agent', code })
  }
  const refused = (code: string, ms: number) => ({
    ...{ at: 3 * DAY_MS + ms, request: 'POST /', key: code, code },
  })
  expect(calls.refusalsOf('a')).toEqual([
    refused('key_scope_exceeded', 4),
    refused('agent_paused', 3),
    refused('rate_limited', 2),
  ])
  expect(calls.refusalsOf('b')).toEqual([])
})

test('what is counted while earlier counts are stored is not stored with them, nor lost', async () => {
  const { calls, written, ask } = counting()
  ask(200)
  const first = calls.flush()
  ask(409, 'POST')
  await first
  expect(written.flat()).toMatchObject([{ reads: 1, conflicts: 0 }])
  await calls.flush()
  expect(written.flat()).toMatchObject([{ reads: 1 }, { reads: 0, conflicts: 1 }])
})
