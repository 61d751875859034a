/** What `agent-home sync` leaves alone on both sides: leftovers of programs, and what the user names. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ignoring } from '../../src/cli/remote/sync/ignore.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { freshFolder, removeFolders, roundsIn, synced } from './sync.ts'

let opened: OpenedHome
beforeAll(async () => {
  vi.stubEnv('XDG_CONFIG_HOME', freshFolder())
  opened = await openHome()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await opened.close()
  removeFolders()
})

const LEFTOVERS = [
  ...['notes.md~', '#notes.md#', '.#notes.md', '.notes.md.swp', 'notes.md.swp', 'a.swo', 'a.swx'],
  ...['notes.md.bak', 'notes.md.orig', '~$notes.md', '.DS_Store', 'Thumbs.db', 'desktop.ini'],
]

describe('what programs leave behind', () => {
  test('stays here, wherever it is, and is not named', async () => {
    const { sync, put, memories, files } = await synced(opened)
    for (const name of LEFTOVERS) for (const at of ['', 'd/']) put(`${at}${name}`, 'left behind')
    put('notes.md', 'notes')
    expect((await sync()).stdout).toBe('sent notes.md\n1 sent.\n')
    expect(await memories()).toEqual({ 'notes.md': 'notes' })
    expect(Object.keys(files())).toHaveLength(2 * LEFTOVERS.length + 1)
  })

  test('is not received either', async () => {
    const { home, sync, files } = await synced(opened)
    await home.write('notes.md.bak', 'stale', { expectedVersion: 0 })
    await home.write('d..Thumbs.db', 'x', { expectedVersion: 0 })
    await home.write('bak', 'a note', { expectedVersion: 0 })
    expect((await sync()).stdout).toBe('received bak\n1 received.\n')
    expect(files()).toEqual({ bak: 'a note' })
  })

  test('is a file again where a pattern says so', async () => {
    const { sync, put, memories } = await synced(opened)
    put('notes.md.bak', 'kept')
    put('.env', 'SECRET=1')
    put('.agent-home/ignore', '!*.bak\n!.env\n')
    await sync()
    expect(await memories()).toEqual({ 'notes.md.bak': 'kept' })
  })
})

describe('what .agent-home/ignore names', () => {
  const PATTERNS = '# not these\n/build/\n*.log\n!keep.log\ndrafts/**/old\n'

  test('is neither sent nor received', async () => {
    const { home, sync, put, memories, files } = await synced(opened)
    put('.agent-home/ignore', PATTERNS)
    const here = ['build/a', 'd/build/a', 'a.log', 'd/a.log', 'keep.log', 'drafts/x/old', 'old']
    for (const path of here) put(path, 'here')
    await home.write('build..b', 'there', { expectedVersion: 0 })
    await home.write('d..b.log', 'there', { expectedVersion: 0 })
    await home.write('build', 'a file', { expectedVersion: 0 })
    const { code, stdout } = await sync()
    expect(code).toBe(0)
    expect(stdout).toContain('left alone build: on this file system its name collides with build')
    expect(Object.keys(await memories())).toEqual(
      ['build', 'build..b', 'd..b.log', 'd..build..a', 'keep.log', 'old'].toSorted(),
    )
    expect(Object.keys(files()).toSorted()).toEqual(here.toSorted())
  })

  test('and was synced before is deleted on neither side, and goes on when it is not named', async () => {
    const { home, sync, put, memories, files } = await synced(opened)
    const paths = ['a.log', 'b.log', 'c.log', 'd.log']
    for (const path of paths) put(path, `${path}\n\n\nend\n`)
    await sync()
    put('.agent-home/ignore', '*.log')
    put('a.log', undefined)
    await home.delete('b.log', { expectedVersion: 1 })
    put('c.log', 'mine\n\n\nend\n')
    await home.write('c.log', 'c.log\n\n\nEND\n', { expectedVersion: 1 })
    expect((await sync()).stdout).toBe('Nothing to do.\n')
    expect(Object.keys(await memories())).toEqual(['a.log', 'c.log', 'd.log'])
    expect(Object.keys(files())).toEqual(['b.log', 'c.log', 'd.log'])
    put('.agent-home/ignore', '')
    expect((await sync()).code).toBe(0)
    expect(files()).toEqual({ 'c.log': 'mine\n\n\nEND\n', 'd.log': 'd.log\n\n\nend\n' })
    expect(await memories()).toEqual(files())
  })

  test('is read at each pass', async () => {
    const { directory, token, put, memories } = await synced(opened)
    put('a.log', 'a')
    const { rounds, close } = roundsIn({ directory, token, url: opened.url }, fetch)
    put('.agent-home/ignore', '*.log')
    await rounds.round()
    expect(await memories()).toEqual({})
    put('.agent-home/ignore', '*.txt')
    await rounds.round()
    close()
    expect(await memories()).toEqual({ 'a.log': 'a' })
  })

  test('is large: so is the file, which keeps its pieces', async () => {
    const { sync, put, memories } = await synced(opened)
    put('a.log', 'x'.repeat(40_000))
    await sync()
    put('.agent-home/ignore', '*.log')
    put('a.log', undefined)
    expect((await sync()).stdout).toBe('Nothing to do.\n')
    expect(Object.keys(await memories())).toHaveLength(3)
  })

  test.each([
    ['65537 bytes are more than a file may have (65536)', '#'.repeat(65_537)],
    ['it is not UTF-8', Uint8Array.of(0xe9)],
    ['line 3 has more than three "**"', '# ** ** ** **\n**/a/**/a/**\n**/a/**/a/**/a/**/b\n'],
  ])('in a file that is none (%s): nothing is done', async (why, rules) => {
    const { home, sync, put, directory, memories, files } = await synced(opened)
    await home.write('there', 'there', { expectedVersion: 0 })
    put('a', 'a')
    put('.agent-home/ignore', rules)
    const { code, stderr } = await sync()
    const file = join(directory, '.agent-home/ignore')
    expect([code, stderr]).toEqual([1, `${file}: ${why}. Nothing was done.\n`])
    expect(await memories()).toEqual({ there: 'there' })
    expect(files()).toEqual({ a: 'a' })
  })

  test('through a link, or in a directory: nothing is done', async () => {
    const { sync, put, directory } = await synced(opened)
    put('rules', '*')
    mkdirSync(join(directory, '.agent-home'))
    symlinkSync(join(directory, 'rules'), join(directory, '.agent-home/ignore'))
    expect((await sync()).stderr).toContain('ignore: it is a link. Nothing was done.')
    const other = await synced(opened)
    mkdirSync(join(other.directory, '.agent-home/ignore'), { recursive: true })
    expect((await other.sync()).stderr).toContain('ignore: it is not a file. Nothing was done.')
  })

  test('any text is a list of patterns', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (rules, path) => {
      expect(typeof ignoring(rules)(`a${path}`)).toBe('boolean')
    })
    fc.assert(property)
  })
})
