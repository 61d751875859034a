/** A command that waits for its home says so: for how long, and why. */
import { HomeError } from 'agent-home-client'
import { expect, test, vi } from 'vitest'
import { sayingWaits, withSeconds } from '../../src/cli/remote/waiting.ts'
import type { Timers } from '../../src/timers.ts'

const problem = { status: 429, code: 'rate_limited', title: 'Too many requests' }
const limited = (detail: string, retryAfter?: number) =>
  new HomeError({ ...problem, detail }, { retryAfter })

test('a limit’s seconds are in the sentence', () => {
  const asked = limited('Wait the number of seconds in Retry-After. See the preview.', 57)
  expect(withSeconds(asked)).toContain('Wait 57 s. See the preview.')
  expect(withSeconds(limited('Too much.', 3))).toMatch(/Wait 3 s\.$/)
  expect(withSeconds(limited('Too much.'))).toBe(limited('Too much.').message)
})

function listening() {
  const said: unknown[][] = []
  const due: (() => void)[] = []
  const cancelled = vi.fn()
  const after: Timers['after'] = (ms, work) => {
    expect(ms).toBe(1_000)
    due.push(work)
    return cancelled
  }
  const options = sayingWaits('http://home', (...told) => void said.push(told), { after })
  return { said, due, cancelled, options }
}

test('a pause of a second or more is said, with its reason, and shorter ones once they add up', () => {
  const { said, options } = listening()
  const error = limited('Wait the number of seconds in Retry-After.', 57)
  options.onRetry?.({ error, waitMs: 57_100, tries: 1 })
  expect(said).toEqual([
    [
      expect.stringMatching(/^Waiting 58 s, then trying again .*Wait 57 s\./),
      { code: 'waiting', seconds: 58, reason: 'rate_limited', tries: 1 },
    ],
  ])
  const away = listening()
  for (const tries of [1, 2, 3]) away.options.onRetry?.({ error, waitMs: 400, tries })
  expect(away.said).toHaveLength(1)
})

test('short pauses before an answer do not add up with those after it', async () => {
  const { said, options } = listening()
  const error = limited('Too much.', 1)
  const pause = (tries: number) => options.onRetry?.({ error, waitMs: 400, tries })
  vi.stubGlobal('fetch', async () => new Response('', { status: 200 }))
  for (const tries of [1, 2]) pause(tries)
  await options.fetch?.('http://home/')
  for (const tries of [1, 2]) pause(tries)
  vi.unstubAllGlobals()
  expect(said).toEqual([])
})

test('an answer that takes longer than a second is said, one that has come is not', async () => {
  const { said, due, cancelled, options } = listening()
  vi.stubGlobal('fetch', async () => {
    due[0]?.()
    return new Response('', { status: 200 })
  })
  await options.fetch?.('http://home/')
  vi.unstubAllGlobals()
  expect(said).toEqual([['Waiting for an answer from http://home.', { code: 'waiting' }]])
  expect(cancelled).toHaveBeenCalledOnce()
})
