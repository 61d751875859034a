/** `npm run check` leaves out by folder what starts a process of its own: nothing else may. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import settings from '../vitest.config.ts'

const STARTED_ELSEWHERE = /^(process|browser|answers|strangers|postgres)\//

/** How a test comes by our program, a browser, or a PostgreSQL: the shared one is no engine there. */
const STARTS = /child_process|createPostgres|cloneDatabase|\/(program|visit|chromium|scene)\.ts'/

const importsOf = (source: string): string[] => source.match(/^import [^']* from '[^']+'/gm) ?? []

const startsProcess = (source: string): boolean =>
  importsOf(source).some((each) => STARTS.test(each))

const tests = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => ({ file, source: readFileSync(join(import.meta.dirname, file), 'utf8') }))

test('a test that starts a process lies where the quick run leaves it out', () => {
  const strays = tests.filter(({ source }) => startsProcess(source))
  expect(strays.length).toBeGreaterThan(10)
  expect(strays.map(({ file }) => file).filter((file) => !STARTED_ELSEWHERE.test(file))).toEqual([])
})

test('the short runs leave out these folders, and nothing else', async () => {
  const packageJson = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')
  const { check, engines, test, hunt } = (
    JSON.parse(packageJson) as { scripts: Record<string, string> }
  ).scripts
  expect([test, check, engines, hunt]).toEqual([
    'npm run lint && vitest run',
    'npm run lint && vitest run --mode quick',
    'npm run lint && vitest run --mode engines',
    'npm run lint && vitest run --mode hunt',
  ])
  const excluded = (mode: string) => settings({ mode, command: 'serve' }).test?.exclude
  const leftOut = (mode: string) => [
    ...new Set(excluded(mode)).difference(new Set(excluded('test'))),
  ]
  expect(leftOut('hunt')).toEqual([])
  expect(leftOut('engines')).toEqual(['test/{process,browser,answers,strangers}/**'])
  expect(leftOut('quick')).toEqual([...leftOut('engines'), 'test/{postgres,client/adapters}/**'])
})
