/** When a limit is near, and which calls were refused. */
import { describe, expect, test } from 'vitest'
import type { HomeLimits } from '../../src/home/limits.ts'
import { countInMemory, createBudgets } from '../../src/pipeline/budgets.ts'
import { concernsOf, rateConcerns } from '../../src/web/console/agent/attention.ts'
import { manualTimers } from '../manual-timers.ts'

const quiet = { reads: 9, writes: 9, conflicts: 0, refusals: 0 }

const limitsOf = (memoriesPerAgent: number, bytesPerAgent: number) =>
  ({ memoriesPerAgent, bytesPerAgent }) as HomeLimits

const told = (concerns: ReturnType<typeof concernsOf>) =>
  concerns.map(({ kind, mark }) => `${kind} ${mark}`)

describe('a limit is near', () => {
  test.each([
    [7, 0, []],
    [8, 0, ['warn Nearly full']],
    [9, 0, ['warn Nearly full']],
    [10, 0, ['bad No room']],
    [0, 799, []],
    [0, 800, ['warn 80 % full']],
    [8, 1_000, ['warn Nearly full', 'bad 100 % full']],
  ])('with %i of 10 memories and %i of 1,000 bytes: %j', (memoryCount, bytes, expected) => {
    expect(told(concernsOf({ memoryCount, bytes }, quiet, limitsOf(10, 1_000)))).toEqual(expected)
  })

  test('never where there is none', () => {
    expect(concernsOf({ memoryCount: 9, bytes: 9 }, quiet, limitsOf(0, 0))).toEqual([])
  })

  test.each([
    ['reads', 4],
    ['writes', 5],
    ['exports', 4],
  ] as const)('also that of %s, by its own agent', async (name, used) => {
    const policies = ['reads', 'writes', 'exports'].map((each) => ({
      ...{ name: each, quota: 5, windowSeconds: 60 },
    }))
    const budgets = createBudgets(policies, countInMemory(manualTimers().timers))
    for (let n = 0; n < used; n++) await budgets.take(name, 'one')
    expect(told(await rateConcerns(budgets, 'one'))).toEqual([
      `${used === 5 ? 'bad' : 'warn'} Many ${name}`,
    ])
    expect(await rateConcerns(budgets, 'another')).toEqual([])
  })
})
