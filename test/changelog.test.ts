/** The changelog is for readers of a release: short, and with one list of each kind. */
import { expect, test } from 'vitest'
import { readDocument } from './readme.ts'

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']

const [, unreleased = '', ...released] = readDocument('CHANGELOG.md').split(/^## /m)

const headingsOf = (version: string): string[] =>
  [...version.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)

const bulletsOf = (version: string): string[] => version.match(/^- .+$/gm) ?? []

test('what is unreleased comes first, with one heading of each kind', () => {
  expect(unreleased).toMatch(/^Unreleased\n/)
  const headings = headingsOf(unreleased)
  expect(headings.filter((heading) => !KINDS.includes(heading))).toEqual([])
  expect(headings).toEqual([...new Set(headings)])
})

test('a release has at most 30 entries, none of them twice', () => {
  expect(released.length).toBeGreaterThan(1)
  for (const version of released) {
    const bullets = bulletsOf(version)
    expect(bullets.length, version.split('\n')[0]).toBeLessThanOrEqual(30)
    expect(bullets).toEqual([...new Set(bullets)])
  }
})

test('2.0.0 says what a user of 1.0.0 has to do', () => {
  const [version = ''] = released
  expect(headingsOf(version)).toEqual(['Coming from 1.0.0', 'Added', 'Changed'])
})
