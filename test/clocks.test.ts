/** No test measures time: a slower machine, or a busy one, would fail it. CONTRIBUTING says what does. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { timed } from './clocks.ts'

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(import.meta.dirname, file), 'utf8') }))

/** Whatever else runs in the process would meet them: `manual-timers.ts` has timers of one test. */
const FAKED = /\bvi\s*\.\s*(useFakeTimers|setSystemTime|spyOn\(\s*global(This)?\b)/

test('no test fakes or watches the timers and the clock that others use', () => {
  expect(files.filter(({ text }) => FAKED.test(text)).map(({ file }) => file)).toEqual([])
  const faking = ['useFakeTimers()', 'setSystemTime(0)', "spyOn(globalThis, 'setTimeout')"]
  expect(faking.filter((each) => FAKED.test(`${'vi'}.${each}`))).toEqual(faking)
})

test('no test says how long something takes', () => {
  expect(files.length).toBeGreaterThan(300)
  const found = files.flatMap(({ file, text }) => timed(text).map((each) => `${file}: ${each}`))
  expect(found).toEqual([])
})

test.each([
  'const from = performance.now(); work(); expect(performance.now() - from).toBeLessThan(25)',
  'const from = Date.now(); work(); expect(Date.now() - from < 25).toBe(true)',
  'const from = Date.now(); const took = Date.now() - from; expect(took).toBeGreaterThan(990)',
  'const from = process.hrtime.bigint(); const ns = process.hrtime.bigint() - from; expect(ns).not.toBeGreaterThan(9n)',
  'const waits: number[] = []; waits.push(performance.now() - from); expect(Math.max(...waits)).toBeLessThan(5)',
  'let most = 0; most = Math.max(most, performance.now() - from); expect(most).toBeLessThan(5)',
  'const measure = async () => { const from = performance.now(); await work(); return performance.now() - from }; expect(await measure()).toBeLessThan(5)',
  'function measure() { return { answer, ms: performance.now() - from } }; const { ms } = measure(); expect(ms).toBeLessThan(5)',
  'async function t() { expect(await processorMs(work)).toBeLessThan(5) }',
  'const { user } = process.cpuUsage(); expect(user).toBeLessThan(5)',
  'test("x", () => { const ms = performance.now() - from; expect(ms).toBeLessThanOrEqual(5) })',
])('is seen: %s', (text) => {
  expect(timed(text)).toHaveLength(1)
})

test.each([
  'const until = performance.now() + 60; while (performance.now() < until); expect(delays).toBe(1)',
  'const seed = Date.now() % 2 ** 31; expect(seed).toBe(1)',
  'const startedAt = performance.now(); await tell("back after", () => performance.now() - startedAt); expect(back).toBe(true)',
  'const restart = () => ({ server, afterMs: performance.now() - from }); const { server } = restart(); expect(server).toBe(1)',
  'const here = await processorMs(a); const beside = await processorMs(b); expect(beside).toBeLessThan(here / 2)',
])('is none of it: %s', (text) => {
  expect(timed(text)).toEqual([])
})
