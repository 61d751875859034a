import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { measure, packagesOf, readTree, violations } from './architecture.ts'

const tree = readTree(fileURLToPath(new URL('../src', import.meta.url)))

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
    ['client/client.ts', "import { z } from 'zod'", 'the client depends on nothing'],
    ['attic/box.ts', "import { problem } from '../errors.ts'", 'give attic a row'],
    ['app.ts', "import { Pool } from 'pg'", 'nobody outside store/ names an engine'],
    ['home/home.ts', "export const engine = 'sqlite'", 'nobody outside store/ names an engine'],
    ['http/server.ts', 'const port = process.env.PORT', 'only config.ts reads the environment'],
    ['store/open.ts', 'process.exit(1)', 'only main.ts exits the process'],
    ['home/keys.ts', 'const now = Date.now()', 'the clock and randomness are handed in'],
  ])('a violation in %s is seen: %s', (path, text, sentence) => {
    expect(violations([{ path, text }]).join('\n')).toContain(sentence)
  })

  test('what the rules allow is not refused', () => {
    const allowed = [
      { path: 'home/memory.ts', text: "import type { Memory } from '../store/port/home.ts'" },
      { path: 'home/memory.ts', text: '// SQLite keeps it; process.env is not read here.' },
      { path: 'store/open.ts', text: "import { openSqlite } from './sqlite/store.ts'" },
      { path: 'main.ts', text: 'process.exit(0)' },
    ]
    expect(violations(allowed)).toEqual([])
  })

  test('it imports its dependencies, all of them and no others', () => {
    expect([...packagesOf(tree)].toSorted()).toEqual(Object.keys(packageJson.dependencies))
  })

  // A report, not a gate: what it names is asking to be split by meaning.
  test('the lengths of files and functions', () => {
    const measured = tree.map(measure)
    const functions = measured.flatMap((file) =>
      file.functions.map((each) => ({ ...each, path: file.path })),
    )
    expect(functions.length).toBeGreaterThan(100)
    const longFiles = measured.filter(({ lines }) => lines > 200)
    const longFunctions = functions.filter(({ lines }) => lines > 50)
    console.info(
      [
        `${tree.length} files of ${median(measured)} lines at the median, ` +
          `${functions.length} functions of ${median(functions)}`,
        ...longFiles.map(({ path, lines }) => `  ${lines} lines: ${path}`),
        ...longFunctions.map(({ path, name, lines }) => `  ${lines} lines: ${name} in ${path}`),
      ].join('\n'),
    )
  })
})

function median(items: readonly { readonly lines: number }[]): number {
  const sorted = items.map(({ lines }) => lines).toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}
