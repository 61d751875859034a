/** What is counted before a handler runs: requests of agents, and credentials in vain. */
import { BlockList } from 'node:net'
import { expect, test } from 'vitest'
import type { Problem } from '../../src/errors.ts'
import { beginCall, type Call } from '../../src/http/call.ts'
import { countInMemory, createBudgets } from '../../src/pipeline/budgets.ts'
import { failAuthentication, showFailures } from '../../src/pipeline/failures.ts'
import { announce, refuseUnspent, spent } from '../../src/pipeline/guards/budget.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { processTimers } from '../../src/timers.ts'
import { incomingOf } from '../harness.ts'

const callFrom = (from = '192.0.2.1'): Call => beginCall('r1', incomingOf('GET', '/', { from }), {})

const deps = (quota = 2) => {
  const named = (name: string) => ({ name, quota, windowSeconds: 60 })
  const budgets = createBudgets([named('reads'), named('failures')], countInMemory(processTimers))
  return { budgets, trustedProxies: new BlockList() }
}

const identity: Identity = { agentId: 'a', kind: 'agent', tokenHash: 'h', status: 'active' }

const rateOf = ({ responseHeaders }: Call) => responseHeaders.RateLimit?.replace(/;t=\d+$/, '')

const policyOf = ({ responseHeaders }: Call) => responseHeaders['RateLimit-Policy']

const refusalOf = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => Promise.reject(new Error('nothing was refused')),
    (refusal: Problem) => refusal,
  )

const expectLater = ({ extras }: Problem) => {
  const seconds = Number(extras.headers?.['Retry-After'])
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
}

test('a budget is announced before anybody is asked who they are', async () => {
  const call = callFrom()
  expect(await announce('reads').run({ call }, deps())).toMatchObject({ budget: { quota: 2 } })
  expect([policyOf(call), rateOf(call)]).toEqual(['"reads";q=2;w=60', undefined])
})

test('a request takes one from its agent’s budget, and is refused when none is left', async () => {
  const shared = deps()
  const budget = shared.budgets.policy('reads')
  const take = async (agentId: string) => {
    const call = callFrom()
    await spent.run({ call, budget, identity: { ...identity, agentId } }, shared)
    return rateOf(call)
  }
  expect([await take('a'), await take('a'), await take('b')]).toEqual([
    '"reads";r=1',
    '"reads";r=0',
    '"reads";r=1',
  ])
  const refusal = await refusalOf(take('a'))
  expect(refusal.code).toBe('rate_limited')
  expectLater(refusal)
})

test('where there is no limit nothing is shown, and nobody waits', () => {
  const unlimited = deps(0)
  const call = callFrom()
  const budget = unlimited.budgets.policy('reads')
  expect(spent.run({ call, budget, identity }, unlimited)).toBeUndefined()
  expect([policyOf(call), rateOf(call)]).toEqual([undefined, undefined])
})

test('what is not allowed costs nothing, and shows what is left', async () => {
  const shared = deps()
  const call = callFrom()
  const request = { call, budget: shared.budgets.policy('reads'), identity }
  for (let n = 0; n < 3; n++) {
    const refusal = await refusalOf(refuseUnspent(request, shared, 'agent_paused'))
    expect([refusal.code, rateOf(call)]).toEqual(['agent_paused', '"reads";r=2'])
  }
})

test('a credential in vain is counted against its client, until none is let in', async () => {
  const shared = deps()
  const fail = async (from: string) => {
    const call = callFrom(from)
    const refusal = await refusalOf(failAuthentication(call, shared, 'invalid_token'))
    return { refusal, told: [refusal.code, rateOf(call)] }
  }
  expect((await fail('192.0.2.1')).told).toEqual(['invalid_token', '"failures";r=1'])
  expect((await fail('192.0.2.1')).told).toEqual(['invalid_token', '"failures";r=0'])
  const { refusal, told } = await fail('192.0.2.1')
  expect(told).toEqual(['too_many_failures', '"failures";r=0'])
  expectLater(refusal)
  expect((await fail('192.0.2.2')).told).toEqual(['invalid_token', '"failures";r=1'])
})

test('who presents nothing is told where they stand, and it costs nothing', async () => {
  const shared = deps()
  const call = callFrom()
  for (let n = 0; n < 3; n++) await showFailures(call, shared)
  expect([policyOf(call), rateOf(call)]).toEqual(['"failures";q=2;w=60', '"failures";r=2'])
})
