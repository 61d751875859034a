/** `npm run check` leaves out what starts a process of its own, by folder, and what takes long, by name. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import settings from '../vitest.config.ts'
import { LONG } from './order.ts'

const root = join(import.meta.dirname, '..')

const STARTED_ELSEWHERE = /^((process|browser|answers|strangers|postgres|system)\/|lint\.test\.ts$)/

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

test('each run is a mode, which leaves out these files and nothing else', async () => {
  const packageJson = readFileSync(join(root, 'package.json'), 'utf8')
  const { scripts } = JSON.parse(packageJson) as { scripts: Record<string, string> }
  const names = ['test', 'test:system', 'check', 'hunt']
  expect(names.map((name) => scripts[name])).toEqual([
    'vitest run',
    'vitest run --mode system',
    'vitest run --mode check',
    'vitest run --mode hunt',
  ])
  const setting = (mode: string) => settings({ mode, command: 'serve' }).test
  const leftOut = (mode: string) => [
    ...new Set(setting(mode)?.exclude).difference(new Set(setting('hunt')?.exclude)),
  ]
  expect(leftOut('test')).toEqual(['test/system/**'])
  expect(leftOut('system')).toEqual([])
  expect(setting('system')?.include?.[0]).toBe('test/system/**/*.test.ts')
  expect(leftOut('check')).toEqual([
    'test/{process,browser,answers,strangers}/**',
    'test/system/**',
    'test/postgres/**',
    ...LONG,
  ])
})

test('what is left out for the time it takes is there', () => {
  const isThere = (pattern: string) => globSync(pattern, { cwd: root }).length > 0
  const each = LONG.flatMap((pattern) => {
    const [, before = '', names = '', behind = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? []
    return names === '' ? [pattern] : names.split(',').map((name) => before + name + behind)
  })
  expect(each.filter((pattern) => !isThere(pattern))).toEqual([])
})
