/** What SECURITY.md names is there: settings, paths, files and their sections. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settings } from '../src/config.ts'
import { endpoints } from './endpoints.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const security = read('SECURITY.md')

const named = (pattern: RegExp): string[] =>
  [...security.matchAll(pattern)].map(([, name = '']) => name)

test('the settings that it names exist', () => {
  const names = named(/`([A-Z][A-Z_]{4,})`/g)
  expect(names.length).toBeGreaterThan(8)
  expect(names.filter((name) => !settings.includes(name))).toEqual([])
})

test('the doors that it names are there', () => {
  const doors = named(/`(\/[\w./-]*)`/g)
  expect(doors.length).toBeGreaterThan(8)
  const isServed = (door: string) => endpoints.some(({ path }) => path.startsWith(door))
  expect(doors.filter((door) => !isServed(door))).toEqual([])
})

/** As the pages that show Markdown make an anchor of a heading. */
const anchors = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )

test('its links lead to sections that exist', () => {
  const links = [...security.matchAll(/\]\(([^)#]+)#([^)]+)\)/g)]
  expect(links.length).toBeGreaterThan(1)
  for (const [, path = '', anchor = ''] of links) expect(anchors(read(path))).toContain(anchor)
})
