/** `docs/architecture.md` tells the way of three requests; the files it names are those that run. */
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

const named = (text: string): string[] =>
  [...new Set([...text.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file))].toSorted()

/** Read to understand, but not called in this thread: declarations, and the writer's own. */
const notCalled: Readonly<Record<string, readonly string[]>> = {
  'A memory write': [
    'home/guards.ts',
    'store/port/home.ts',
    'store/plan.ts',
    'store/change.ts',
    'store/sqlite/keeping/changes.ts',
  ],
  'A page view': ['web/console/guards.ts'],
  'A gateway post': ['gateway/feeds.ts', 'gateway/guards.ts', 'store/sqlite/entries.ts'],
}

const ways = Object.keys(executed)

/** Run by at least two of the requests. */
const shared = [...new Set(Object.values(executed).flat())].filter(
  (file) => ways.filter((way) => executed[way]?.includes(file)).length > 1,
)

test('what the requests share is named once', () => {
  expect(named(sectionOf('Every request'))).toEqual(shared.toSorted())
})

test.each(ways)('%s runs the files that the page names, and no others', (way) => {
  const own = (executed[way] ?? []).filter((file) => !shared.includes(file))
  const expected = [...own, ...(notCalled[way] ?? [])].toSorted()
  expect(named(sectionOf(way))).toEqual(expected)
})

test('a newcomer reads at most eight files for a memory write, of 26 that are named', () => {
  const section = sectionOf('A memory write')
  expect(section.match(/\*\*`/g)?.length).toBeLessThanOrEqual(8)
  expect(named(section).length).toBeLessThanOrEqual(26)
})

test('every file that the page names exists', () => {
  const links = [...page.matchAll(/\]\(\.\.\/(src\/[^)]+)\)/g)].map(([, file = '']) => file)
  const files = named(page).map((file) => (file.startsWith('test/') ? file : `src/${file}`))
  expect([...files, ...links].filter((file) => !existsSync(new URL(file, root)))).toEqual([])
})
