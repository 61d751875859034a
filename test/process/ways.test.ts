/** `docs/architecture.md` tells the way of three requests; the files that it shows in bold are run by them. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../..', import.meta.url)
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8')

const executed: Readonly<Record<string, readonly string[]>> = JSON.parse(
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', new URL('executed.ts', import.meta.url).pathname],
    { encoding: 'utf8' },
  ),
)

const sectionOf = (title: string): string =>
  page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''

/** Shown in bold: who reads these knows the way. */
const shown = (text: string): string[] =>
  [...text.matchAll(/\*\*`([\w/.-]+\.ts)`\*\*/g)].map(([, file = '']) => file)

/** Not called in this thread: declarations, and the writer's own. */
const notCalled: Readonly<Record<string, readonly string[]>> = {
  'A memory write': [
    'home/guards.ts',
    'store/port/home.ts',
    'store/memory-writes.ts',
    'store/home-log.ts',
    'store/change.ts',
    'store/sqlite/memories/home-log.ts',
  ],
  'A page view': ['web/console/guards.ts'],
  'A gateway post': ['gateway/guards.ts', 'store/sqlite/entries.ts'],
}

test.each(Object.entries(executed))('%s runs the files that the page shows', (way, run) => {
  const files = shown(sectionOf(way))
  expect(files.length).toBeGreaterThan(1)
  expect(files.length).toBeLessThanOrEqual(8)
  expect(files.filter((file) => !run.includes(file))).toEqual(notCalled[way])
})

test('every file that the page names exists', () => {
  const links = [...page.matchAll(/\]\(\.\.\/(src\/[^)]+)\)/g)].map(([, file = '']) => file)
  const named = [...page.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file)
  const files = named.map((file) => (file.startsWith('test/') ? file : `src/${file}`))
  expect(files.length).toBeGreaterThan(30)
  expect([...files, ...links].filter((file) => !existsSync(new URL(file, root)))).toEqual([])
})
