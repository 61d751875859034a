/** Budgets that several nodes spend from, by permits that are leased from one count. */
import { beforeEach, describe, expect, test } from 'vitest'
import { countShared } from '../../src/pipeline/shared-budgets.ts'
import type { LeasePermits } from '../../src/store/port/store.ts'

const policyOf = (quota: number, name = 'reads') => ({ name, quota, windowSeconds: 60 })

let now: number
/** How many permits were asked for, each time. */
let questions: number[]
/** What the next answer takes, in milliseconds. */
let answerMs: number
let counts: Map<string, { taken: number; endsAt: number }>
beforeEach(() => {
  now = 1_000_000
  questions = []
  answerMs = 0
  counts = new Map()
})

/** The one count, whose window begins with the first question. */
const lease: LeasePermits = async ({ name, quota, windowMs }, key, wanted) => {
  questions.push(wanted)
  const id = JSON.stringify([name, key])
  const known = counts.get(id)
  const count = known && known.endsAt > now ? known : { taken: 0, endsAt: now + windowMs }
  const granted = Math.min(wanted, quota - count.taken)
  count.taken += granted
  counts.set(id, count)
  const endsInMs = count.endsAt - now
  now += answerMs
  return { granted, unleased: quota - count.taken, endsInMs }
}

const openNode = () => countShared(lease, () => now)

describe('a budget of several nodes', () => {
  test('is leased by the twentieth, and shown as it is spent', async () => {
    const node = openNode()
    const policy = policyOf(60)
    for (const remaining of [59, 58, 57, 56]) {
      const state = { policy, remaining, resetSeconds: 60, allowed: true }
      expect(await node.take(policy, 'a')).toEqual(state)
    }
    expect(questions).toEqual([3, 3])
  })

  test('is leased one by one when it is small', async () => {
    const node = openNode()
    const allowed = []
    for (let n = 0; n < 4; n++) allowed.push((await node.take(policyOf(3), 'a')).allowed)
    expect(allowed).toEqual([true, true, true, false])
    expect(questions).toEqual([1, 1, 1])
  })

  test('allows no more in sum than its quota', async () => {
    const nodes = [openNode(), openNode(), openNode()]
    let allowed = 0
    for (let n = 0; n < 100; n++) {
      for (const node of nodes) if ((await node.take(policyOf(60), 'a')).allowed) allowed++
    }
    expect(allowed).toBe(60)
  })

  test('that is used up is refused without a question until its window ends', async () => {
    const node = openNode()
    const policy = policyOf(1)
    await node.take(policy, 'a')
    now += 59_001
    const over = { policy, remaining: 0, resetSeconds: 1, allowed: false }
    expect(await node.take(policy, 'a')).toEqual(over)
    expect(await node.look(policy, 'a')).toEqual(over)
    expect(questions).toHaveLength(1)
    now += 999
    expect(await node.take(policy, 'a')).toMatchObject({ allowed: true, resetSeconds: 60 })
    expect(questions).toHaveLength(2)
  })

  test('does not lend the next window what is left of this one', async () => {
    const node = openNode()
    await node.take(policyOf(60), 'a')
    now += 60_000
    expect(await node.take(policyOf(60), 'a')).toMatchObject({ remaining: 59 })
    expect(questions).toEqual([3, 3])
  })

  test('is asked for once by requests that come at once', async () => {
    const node = openNode()
    const takeAll = (count: number) =>
      Promise.all(Array.from({ length: count }, () => node.take(policyOf(60), 'a')))
    expect((await takeAll(3)).map(({ remaining }) => remaining)).toEqual([59, 58, 57])
    expect(questions).toEqual([3])
    const next = await takeAll(5)
    expect(next.every(({ allowed }) => allowed)).toBe(true)
    expect(questions).toEqual([3, 3, 3])
  })

  test('is looked at without being spent, and with one question', async () => {
    const node = openNode()
    const policy = policyOf(60)
    for (let n = 0; n < 2; n++) {
      const state = { policy, remaining: 60, resetSeconds: 60, allowed: true }
      expect(await node.look(policy, 'a')).toEqual(state)
    }
    expect(questions).toEqual([0])
    expect(await node.take(policy, 'a')).toMatchObject({ remaining: 59, allowed: true })
  })

  test('of which only a lease is left is not used up', async () => {
    const [node, other] = [openNode(), openNode()]
    const policy = policyOf(40)
    await node.take(policy, 'a')
    for (let n = 0; n < 38; n++) await other.take(policy, 'a')
    await node.take(policy, 'b')
    expect(await node.look(policy, 'a')).toMatchObject({ allowed: true })
    expect(await other.look(policy, 'a')).toMatchObject({ allowed: false, remaining: 0 })
    expect((await node.take(policy, 'a')).allowed).toBe(true)
  })

  test('is counted by name and by key', async () => {
    const node = openNode()
    const take = async (name: string, key: string) =>
      (await node.take(policyOf(1, name), key)).allowed
    expect([await take('reads', 'a'), await take('reads', 'a')]).toEqual([true, false])
    expect([await take('reads', 'b'), await take('writes', 'a')]).toEqual([true, true])
  })

  test('ends no later than in truth, however long the answer takes', async () => {
    const node = openNode()
    answerMs = 10_000
    expect(await node.take(policyOf(60), 'a')).toMatchObject({ resetSeconds: 50 })
    answerMs = 70_000
    expect(await node.take(policyOf(60), 'b')).toMatchObject({ resetSeconds: 0, allowed: true })
  })

  test('is asked for again after a question that failed', async () => {
    let failed = false
    const node = countShared(
      async (...question) => {
        if (failed) return lease(...question)
        failed = true
        throw new Error('no answer')
      },
      () => now,
    )
    await expect(node.take(policyOf(60), 'a')).rejects.toThrow('no answer')
    expect(await node.take(policyOf(60), 'a')).toMatchObject({ allowed: true })
  })

  test('that still runs is remembered however many there are', async () => {
    const node = openNode()
    const policy = policyOf(40)
    await node.take(policy, 'first')
    for (let n = 0; n < 10_001; n++) await node.take(policy, `${n}`)
    const before = questions.length
    expect(await node.take(policy, 'first')).toMatchObject({ remaining: 38 })
    expect(questions).toHaveLength(before)
  })

  test('costs the same however many others are counted in the window', async () => {
    // Of each count that is looked at it is asked what time it is.
    let looks = 0
    const node = countShared(lease, () => {
      looks++
      return now
    })
    const policy = policyOf(40)
    const take = async (from: number, count: number) => {
      const before = looks
      for (let n = from; n < from + count; n++) await node.take(policy, `${n}`)
      return (looks - before) / count
    }
    const few = await take(0, 8_000)
    expect(few).toBeGreaterThan(0)
    // All of them are looked at when there are twice as many.
    expect(await take(8_000, 32_000)).toBeLessThan(few + 4)
  })
})
