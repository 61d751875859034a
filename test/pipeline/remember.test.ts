import { expect, test } from 'vitest'
import { remembering } from '../../src/pipeline/remember.ts'

/** Counts how often it was asked, on a clock that the test moves. */
function asked(forMs: number, answers: (n: number) => Promise<number>) {
  let times = 0
  let now = 1_000_000
  const ask = remembering(
    () => answers(++times),
    forMs,
    () => now,
  )
  return { ask, tick: (ms: number) => (now += ms) }
}

const whole = async (n: number): Promise<number> => n

test('many who ask at once share one answer', async () => {
  const { ask } = asked(1_000, whole)
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1])
})

test('it is remembered for its time, and asked for again after it', async () => {
  const { ask, tick } = asked(10_000, whole)
  await ask()
  tick(9_999)
  expect(await ask()).toBe(1)
  tick(1)
  expect(await ask()).toBe(2)
})

test('while an answer is under way nobody asks for another, however long it takes', async () => {
  const slow = Promise.withResolvers<number>()
  const { ask, tick } = asked(1_000, () => slow.promise)
  const first = ask()
  tick(60_000)
  const second = ask()
  slow.resolve(7)
  expect(await Promise.all([first, second])).toEqual([7, 7])
  expect(await ask()).toBe(7)
})

test('a failure is remembered too, for a second at most', async () => {
  const { ask, tick } = asked(10_000, (n) => Promise.reject(new Error(String(n))))
  await expect(ask()).rejects.toThrow('1')
  tick(999)
  await expect(ask()).rejects.toThrow('1')
  tick(1)
  await expect(ask()).rejects.toThrow('2')
})

test('a clock that is set back makes nothing last', async () => {
  const { ask, tick } = asked(1_000, whole)
  await ask()
  tick(-3_600_000)
  expect(await ask()).toBe(2)
})
