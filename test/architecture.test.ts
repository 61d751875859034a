import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import clientJson from '../clients/typescript/package.json' with { type: 'json' }
import packageJson from '../package.json' with { type: 'json' }
import {
  absent,
  circular,
  crowded,
  loadedWith,
  measure,
  packagesOf,
  peerNames,
  readTree,
  sameNames,
  strangeToClient,
  violations,
} from './architecture.ts'

const tree = readTree(fileURLToPath(new URL('../src', import.meta.url)))
const client = readTree(fileURLToPath(new URL('../clients/typescript/src', import.meta.url))).map(
  (file) => ({
    ...file,
    path: `client/${file.path}`,
  }),
)

describe('the shape of the code', () => {
  test('every import points down, and each rule holds', () => {
    expect(tree.length).toBeGreaterThan(30)
    expect(violations(tree)).toEqual([])
  })

  test.each([
    ['home/birth.ts', "import { garden } from '../gateway/garden.ts'", 'home may not see gateway'],
    ['gateway/feed.ts', "import type { Home } from '../home/home.ts'", 'gateway may not see home'],
    ['http/call.ts', "import { homeLimits } from '../home/limits.ts'", 'http may not see home'],
    ['http/call.ts', "export { feed } from '../gateway/feed.ts'", 'http may not see gateway'],
    ['http/call.ts', "import type { Config } from '../config.ts'", 'http may not see config'],
    [
      'home/memory.ts',
      "import { transact } from '../store/sqlite/connection.ts'",
      'home may not see store/sqlite',
    ],
    [
      'store/postgres/store.ts',
      "import { rows } from '../sqlite/rows.ts'",
      'store/postgres may not see store/sqlite',
    ],
    [
      'store/port/home.ts',
      "import { fields } from '../../home/limits.ts'",
      'store/port may not see home',
    ],
    ['cli/main.ts', "const home = await import('../home/index.ts')", 'cli may not see home'],
    ['attic/box.ts', "import { problem } from '../errors.ts'", 'give attic a row'],
    ['app.ts', "import { Pool } from 'pg'", 'nobody outside store/ names an engine'],
    ['home/home.ts', "export const engine = 'sqlite'", 'nobody outside store/ names an engine'],
    [
      'http/server.ts',
      'const port = process.env.PORT',
      'only environment.ts reads the environment',
    ],
    ['store/open.ts', 'process.exit(1)', 'only main.ts and cli/ exit the process'],
    ['home/keys.ts', 'const now = Date.now()', 'the clock and randomness are handed in'],
    ['store/words.ts', 'const seed = randomInt(9)', 'the clock and randomness are handed in'],
    ['home/keys.ts', 'const timer = setTimeout(end, 5)', 'timers are handed in'],
    ['http/call.ts', 'globalThis.setInterval(look, 5)', 'timers are handed in'],
    ['home/keys.ts', "import { setImmediate } from 'node:timers/promises'", 'timers are handed in'],
    ['app.ts', 'const from = performance.now()', 'timers are handed in'],
    [
      'cli/host/doctor.ts',
      'fetch(url, { signal: AbortSignal.timeout(5) })',
      'timers are handed in',
    ],
    ['home/home.ts', 'const { after } = processTimers', 'only what begins a process'],
    ['oauth/oauth.ts', "import { Resolver } from 'node:dns/promises'", 'the name server'],
    ['oauth/oauth.ts', "import { lookup } from 'node:dns'", 'the name server'],
    [
      'pipeline/openapi.ts',
      "import { STATUS_CODES } from 'node:http'",
      'loads Node’s fetch client',
    ],
  ])('a violation in %s is seen: %s', (path, text, sentence) => {
    expect(violations([{ path, text }]).join('\n')).toContain(sentence)
  })

  test('in the store, no imports go in a circle', () => {
    expect(circular(tree.filter(({ path }) => path.startsWith('store/')))).toEqual([])
    const ring = [
      { path: 'store/a.ts', text: "import type { B } from './deep/b.ts'" },
      { path: 'store/deep/b.ts', text: "import { c } from '../c.ts'" },
      { path: 'store/c.ts', text: "export { a } from './a.ts'" },
      { path: 'store/above.ts', text: "import './a.ts'" },
      { path: 'store/below.ts', text: '' },
    ]
    expect(circular(ring)).toEqual(['store/a.ts', 'store/deep/b.ts', 'store/c.ts'])
    expect(circular(ring.slice(1))).toEqual([])
  })

  test('what the rules allow is not refused', () => {
    const allowed = [
      { path: 'home/memory.ts', text: "import type { Memory } from '../store/port/home.ts'" },
      { path: 'home/memory.ts', text: '// SQLite keeps it; process.env is not read here.' },
      { path: 'store/open.ts', text: "import { openSqlite } from './sqlite/store.ts'" },
      { path: 'main.ts', text: 'process.exit(0)' },
      { path: 'http/server.ts', text: 'socket.setTimeout(5)' },
      { path: 'oauth/oauth.ts', text: "import type { LookupAddress } from 'node:dns'" },
    ]
    expect(violations(allowed)).toEqual([])
  })

  test('the client imports nothing of the server, nor of Node.js, nor what another adapter needs', () => {
    expect(client.length).toBeGreaterThan(5)
    expect(strangeToClient(client)).toEqual([])
    const targets = ['../../src/errors.ts', 'node:fs', './pages.ts', '../other.ts']
    const peers = ['@anthropic-ai/sdk/helpers', '@anthropic-ai/other']
    const text = [...targets, ...peers].map((target) => `import '${target}'`).join('\n')
    expect(strangeToClient([{ path: 'client/anthropic/a.ts', text }])).toEqual([
      'client/anthropic/a.ts imports ../../src/errors.ts',
      'client/anthropic/a.ts imports node:fs',
      'client/anthropic/a.ts imports @anthropic-ai/other',
    ])
    expect(strangeToClient([{ path: 'client/a.ts', text: "import '@anthropic-ai/sdk'" }])).toEqual([
      'client/a.ts imports @anthropic-ai/sdk',
    ])
  })

  test('commands for agents, which hooks start all the time, load no library of schemas', () => {
    const paths = tree.map(({ path }) => path)
    const commands = paths.filter((path) => /^cli\/(run|remote\/(?!mcp\/).*)\.ts$/.test(path))
    const loaded = loadedWith(tree, commands)
    expect(loaded).not.toContain('zod')
    expect(loaded).not.toContain('config.ts')
    expect(loadedWith(tree, ['cli/serve.ts'])).toContain('zod')
  })

  test('what the adapters plug into are optional peers, which nothing brings along', () => {
    const { peerDependencies, peerDependenciesMeta } = clientJson
    expect(Object.keys(peerDependencies).toSorted()).toEqual(peerNames.toSorted())
    expect(peerDependenciesMeta).toEqual(
      Object.fromEntries(peerNames.map((name) => [name, { optional: true }])),
    )
    expect(clientJson).not.toHaveProperty('dependencies')
  })

  test('what it imports is in the manifest, pinned, for the build to bundle', () => {
    const pinned = Object.entries(packageJson.devDependencies).filter(([, version]) =>
      /^\d/.test(version),
    )
    const names = [...pinned.map(([name]) => name), 'agent-home-client']
    expect([...packagesOf(tree)].filter((name) => !names.includes(name))).toEqual([])
    expect(packagesOf(tree).size).toBeGreaterThan(5)
  })

  test('the rules name only what there is', () => {
    expect(absent(tree)).toEqual([])
    const without = tree.filter(
      ({ path }) => !path.startsWith('web/browser/') && path !== 'cli/temporary.ts',
    )
    expect(absent(without)).toEqual(['web/browser', 'cli/temporary.ts', 'web/browser/'])
  })

  test('files and functions are short, or are listed with a reason', () => {
    const measured = [...tree, ...client].map(measure)
    expect(measured.flatMap(({ functions }) => functions).length).toBeGreaterThan(1_000)
    expect(measured.flatMap(tooLong).toSorted()).toEqual(Object.keys(longForAReason).toSorted())
  })

  test('what is too long is seen', () => {
    const body = '\n'.repeat(61)
    const text = `export function wide() {${body}}\nconst arrow = () => {${body}}\n${'\n'.repeat(330)}x`
    expect(tooLong(measure({ path: 'home/long.ts', text }))).toEqual([
      'home/long.ts',
      'home/long.ts wide',
      'home/long.ts arrow',
    ])
  })

  test('no folder holds more than a glance takes in', () => {
    const paths = [...tree, ...client].map(({ path }) => path)
    expect(crowded(paths, MOST_FILES)).toEqual([])
    const many = Array.from({ length: MOST_FILES + 1 }, (_, n) => `home/f${n}.ts`)
    expect(crowded(many, MOST_FILES)).toEqual(['home has 31 files'])
  })

  test('no two files of a layer share a name, unless they are one thing in the port and its engines', () => {
    expect(sameNames(tree.map(({ path }) => path)).toSorted()).toEqual(
      Object.keys(namedAlikeForAReason).toSorted(),
    )
    const strays = [
      'web/a/list.ts',
      'web/b/list.ts',
      'home/list.ts',
      'web/index.ts',
      'web/a/index.ts',
    ]
    expect(sameNames(strays)).toEqual(['web/a/list.ts and web/b/list.ts'])
    expect(sameNames(['store/sqlite/a.ts', 'store/postgres/a.ts'])).toEqual([])
    expect(sameNames(['store/sqlite/a.ts', 'store/a.ts'])).toHaveLength(1)
  })
})

const MOST_LINES = 450
const MOST_LINES_OF_A_FUNCTION = 60
const MOST_FILES = 30

/** What is listed and no longer long is taken off the list: the test fails until it is. */
const longForAReason: Readonly<Record<string, string>> = {
  'errors.ts': 'the whole catalogue in one list',
  'pipeline/admission-control.ts createAdmissionControl': 'small functions around one state',
}

const namedAlikeForAReason: Readonly<Record<string, string>> = {
  'store/home-log.ts and store/postgres/memories/home-log.ts and store/sqlite/memories/home-log.ts':
    'what an engine does with the log of a home, and how each does it',
  'store/postgres/engine/words.ts and store/words.ts':
    'how a text is split for both engines, and how one of them asks for words',
}

function tooLong({ path, lines, functions }: ReturnType<typeof measure>): string[] {
  const long = functions.filter((each) => each.lines > MOST_LINES_OF_A_FUNCTION)
  return [...(lines > MOST_LINES ? [path] : []), ...long.map(({ name }) => `${path} ${name}`)]
}
