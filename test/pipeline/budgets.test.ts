import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { countInMemory, createBudgets } from '../../src/pipeline/budgets.ts'

const policies = [
  { name: 'reads', quota: 2, windowSeconds: 60 },
  { name: 'off', quota: 0, windowSeconds: 60 },
]

describe('a budget of this process', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('is spent by key, and whole again when its window has passed', async () => {
    const budgets = createBudgets(policies, countInMemory())
    const take = async (key: string) => {
      const { allowed, remaining, resetSeconds } = await budgets.take('reads', key)
      return [allowed, remaining, resetSeconds]
    }
    expect(await take('a')).toEqual([true, 1, 60])
    vi.advanceTimersByTime(20_000)
    expect(await take('a')).toEqual([true, 0, 40])
    expect(await take('a')).toEqual([false, 0, 40])
    expect(await take('b')).toEqual([true, 1, 60])
    vi.advanceTimersByTime(40_000)
    expect(await take('a')).toEqual([true, 1, 60])
  })

  test('is looked at without being spent', async () => {
    const budgets = createBudgets(policies, countInMemory())
    const look = async () => (await budgets.look('reads', 'a')).allowed
    expect([await look(), await look(), await look()]).toEqual([true, true, true])
    await budgets.take('reads', 'a')
    expect(await look()).toBe(true)
    await budgets.take('reads', 'a')
    expect(await look()).toBe(false)
  })

  test('of 0 is without limit', async () => {
    const budgets = createBudgets(policies, countInMemory())
    for (let n = 0; n < 100; n++) expect((await budgets.take('off', 'a')).allowed).toBe(true)
    expect((await budgets.look('off', 'a')).allowed).toBe(true)
  })

  test('that nobody declared is a mistake of ours', () => {
    const budgets = createBudgets(policies, countInMemory())
    expect(() => budgets.take('unknown', 'a')).toThrow('unknown')
  })
})
