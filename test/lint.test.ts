/**
 * Format, lint and types, beside the tests instead of before them. Each goes through the whole tree:
 * on one core, among a run's first files, that takes more than two minutes.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { LONG_TEST_MS } from './timeouts.ts'

const run = promisify(execFile)

const root = join(import.meta.dirname, '..')

/** What the tool found; nothing where all is well. */
const foundBy = (tool: string, ...args: readonly string[]): Promise<string> =>
  run(join(root, 'node_modules/.bin', tool), args, { cwd: root }).then(
    () => '',
    ({ stdout = '', stderr = '', message }) => `${stdout}${stderr}` || `${message}`,
  )

test.concurrent('everything is formatted, and lints clean', { timeout: LONG_TEST_MS }, async () => {
  expect(await foundBy('biome', 'check', '--colors=off', '.')).toBe('')
})

test.concurrent('the types are right', { timeout: LONG_TEST_MS }, async () => {
  const cache = join(root, 'node_modules/.cache/tsc.json')
  const args = ['--noEmit', '--incremental', '--tsBuildInfoFile', cache]
  expect(await foundBy('tsc', ...args)).toBe('')
})
