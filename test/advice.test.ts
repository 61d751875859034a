/** What an error or a command advises to call, to run or to set exists. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import { settings } from '../src/config.ts'
import { type CatalogueEntry, catalogue } from '../src/errors.ts'
import { readTree } from './architecture.ts'
import { embedded, openService, type TestService } from './harness.ts'

const entries: [string, CatalogueEntry][] = Object.entries(catalogue)
const tree = readTree(fileURLToPath(new URL('../src', import.meta.url)))

/** Without comments, which advise nobody. */
const sayings = (path: RegExp): readonly string[] =>
  tree
    .filter((file) => path.test(file.path))
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))

const CALL = /\b(GET|POST|PATCH|DELETE) (\/[a-z][\w./{}-]*[\w}])/g
const PAGE = /(?<=\s)\/[a-z][\w./-]*\.(?:txt|json)\b/g
const SETTING = /\b[A-Z]+(?:_[A-Z]+)+\b/g
const COMMAND = /agent-home (?!for )([a-z]+(?:-[a-z]+)*)(?: ([a-z]+))?/g

const callsIn = (text: string): string[] =>
  [...text.matchAll(CALL)].map(([, method, path]) => `${method} ${path}`)

describe('advice', () => {
  let service: TestService
  let calls: ReadonlySet<string>
  beforeAll(async () => {
    service = await openService(embedded)
    const { body } = await service.call('GET', '/openapi.json')
    calls = new Set(
      Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    )
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })

  test.each(entries.filter(([, { detail }]) => callsIn(detail).length > 0))(
    'of %s names endpoints that exist',
    (_, { detail }) => {
      expect(callsIn(detail).filter((call) => !calls.has(call))).toEqual([])
    },
  )

  test('anywhere names endpoints that exist', () => {
    const named = sayings(/./)
      .flatMap(callsIn)
      .filter((call) => call.includes(' /api/'))
    expect(named.length).toBeGreaterThan(40)
    expect(named.filter((call) => !calls.has(call))).toEqual([])
  })

  test('names pages that exist', async () => {
    const pages = entries.flatMap(([, { detail }]) => detail.match(PAGE) ?? [])
    expect(pages.length).toBeGreaterThan(1)
    for (const page of pages) expect((await service.call('GET', page)).status, page).toBe(200)
  })

  test('names settings that exist', () => {
    const named = entries.flatMap(([, { detail }]) => detail.match(SETTING) ?? [])
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !settings.includes(name))).toEqual([])
  })

  test('names commands that exist', () => {
    const names = new Set(commands.map(({ name }) => name))
    const texts = [...entries.map(([, { detail }]) => detail), ...sayings(/^(cli|web)\//)]
    const named = texts.flatMap((text) => [...text.matchAll(COMMAND)])
    expect(named.length).toBeGreaterThan(15)
    const unknown = named.filter(
      ([, one = '', two]) => !names.has(one) && !names.has(`${one} ${two}`),
    )
    expect(unknown.map(([said]) => said)).toEqual([])
  })
})
