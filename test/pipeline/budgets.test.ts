import { beforeEach, describe, expect, test } from 'vitest'
import { countInMemory, createBudgets, retryAfter } from '../../src/pipeline/budgets.ts'
import { type ManualTimers, manualTimers } from '../manual-timers.ts'

const policies = [
  { name: 'reads', quota: 2, windowSeconds: 60 },
  { name: 'off', quota: 0, windowSeconds: 60 },
]

describe('a budget of this process', () => {
  let manual: ManualTimers
  beforeEach(() => {
    manual = manualTimers()
  })

  test('is spent by key, and whole again when its window has passed', async () => {
    const budgets = createBudgets(policies, countInMemory(manual.timers))
    const take = async (key: string) => {
      const { allowed, remaining, resetSeconds } = await budgets.take('reads', key)
      return [allowed, remaining, resetSeconds]
    }
    expect(await take('a')).toEqual([true, 1, 60])
    manual.pass(20_000)
    expect(await take('a')).toEqual([true, 0, 40])
    expect(await take('a')).toEqual([false, 0, 40])
    expect(await take('b')).toEqual([true, 1, 60])
    manual.pass(40_000)
    expect(await take('a')).toEqual([true, 1, 60])
    manual.pass(60_000)
    expect(manual.waits()).toEqual([])
  })

  test('is not whole again because a timer of an earlier window was late', async () => {
    let passed = 0
    const late: (() => void)[] = []
    const budgets = createBudgets(
      policies,
      countInMemory({
        ...manual.timers,
        stopwatch: () => passed,
        after: (_, work) => {
          late.push(work)
          return () => {}
        },
      }),
    )
    const take = async () => (await budgets.take('reads', 'a')).allowed
    await take()
    passed = 60_000
    expect([await take(), await take()]).toEqual([true, true])
    late[0]?.()
    expect(await take()).toBe(false)
  })

  test('is looked at without being spent', async () => {
    const budgets = createBudgets(policies, countInMemory(manual.timers))
    const look = async () => (await budgets.look('reads', 'a')).allowed
    expect([await look(), await look(), await look()]).toEqual([true, true, true])
    await budgets.take('reads', 'a')
    expect(await look()).toBe(true)
    await budgets.take('reads', 'a')
    expect(await look()).toBe(false)
  })

  test('shows its state to who looks, also before anything was taken', async () => {
    const budgets = createBudgets(policies, countInMemory(manual.timers))
    const policy = budgets.policy('reads')
    const whole = { policy, remaining: 2, resetSeconds: 60, allowed: true }
    expect(await budgets.look('reads', 'a')).toEqual(whole)
    await budgets.take('reads', 'a')
    manual.pass(30_001)
    const begun = { policy, remaining: 1, resetSeconds: 30, allowed: true }
    expect(await budgets.look('reads', 'a')).toEqual(begun)
  })

  test('is not spent by what another budget allows', async () => {
    const twins = [...policies, { name: 'writes', quota: 1, windowSeconds: 60 }]
    const budgets = createBudgets(twins, countInMemory(manual.timers))
    const take = async (name: string) => (await budgets.take(name, 'a')).allowed
    expect([await take('writes'), await take('writes')]).toEqual([true, false])
    expect([await take('reads'), await take('reads')]).toEqual([true, true])
  })

  test('asks for a second’s patience at least', () => {
    const [policy] = policies
    if (!policy) throw new Error('no policy')
    const over = { policy, remaining: 0, allowed: false }
    expect(retryAfter({ ...over, resetSeconds: 0 })).toEqual({ 'Retry-After': '1' })
    expect(retryAfter({ ...over, resetSeconds: 41 })).toEqual({ 'Retry-After': '41' })
  })

  test('of 0 is without limit', async () => {
    const budgets = createBudgets(policies, countInMemory(manual.timers))
    for (let n = 0; n < 100; n++) expect((await budgets.take('off', 'a')).allowed).toBe(true)
    expect((await budgets.look('off', 'a')).allowed).toBe(true)
  })

  test('that nobody declared is a mistake of ours', () => {
    const budgets = createBudgets(policies, countInMemory(manual.timers))
    expect(() => budgets.take('unknown', 'a')).toThrow('unknown')
  })
})
