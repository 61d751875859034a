/** Files that are larger than a memory: kept in pieces, and whole on the other side. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentHome, type Metadata } from 'agent-home-client'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { cut } from '../../src/cli/remote/sync/cut.ts'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { times } from '../effort.ts'
import { freshFolder, removeFolders, roundsIn, type Synced, synced, wholeTextsIn } from './sync.ts'

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

const MOST = 16_384

const bytes = (text: string): number => Buffer.byteLength(text)

/** Some lines of 64 bytes. */
const lines = (count: number, word = 'line', from = 0): string =>
  Array.from({ length: count }, (_, n) => `${`${word} ${n + from}`.padEnd(63, '.')}\n`).join('')

/** 40,000 bytes, of three pieces. */
const LARGE = lines(625)

const joined = async (home: AgentHome, key: string) => (await wholeTextsIn(home))[key]

const keysOf = async ({ memories }: Synced) => Object.keys(await memories()).toSorted()

/** Only that they are equal: a difference would fill screens. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const text = fc
  .array(
    fc.oneof(
      fc.tuple(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(800)),
      fc.tuple(fc.constantFrom('x', 'é', '漢', '🜚', 'e\u0301\n', '\r\n', '\ufeff'), fc.nat(20_000)),
      fc.tuple(fc.constantFrom('a line\n', 'ü\n', '\n'), fc.nat(8_000)),
    ),
    { maxLength: 8 },
  )
  .map((parts) =>
    parts
      .map(([part, count]) => part.repeat(count))
      .join('')
      .replaceAll('\0', ' '),
  )
  .map((long) =>
    Buffer.from(long)
      .subarray(0, 524_288)
      .toString()
      .replace(/\ufffd+$/, ''),
  )

describe('a cut', () => {
  const check = (long: string, pieces: readonly string[]) => {
    expect(pieces.join('') === long).toBe(true)
    expect(pieces.length).toBeLessThanOrEqual(48)
    for (const piece of pieces) {
      expect(bytes(piece)).toBeLessThanOrEqual(MOST)
      expect(piece.isWellFormed()).toBe(true)
      if (pieces.length > 1) expect(piece).not.toBe('')
    }
  }

  test('has pieces that memories can hold, split no character, and join to the text', () => {
    const property = fc.property(text, text, fc.nat(), fc.nat(), (long, part, a, b) => {
      const pieces = cut(long)
      check(long, pieces)
      const [from, to] = [a % (long.length + 1), b % (long.length + 1)].toSorted((x, y) => x - y)
      const changed = (long.slice(0, from) + part.slice(0, 30_000) + long.slice(to)).toWellFormed()
      if (bytes(changed) <= 524_288) check(changed, cut(changed, pieces))
    })
    fc.assert(property, { numRuns: times(400) })
  })

  test('is made at line ends, where there are some', () => {
    const pieces = cut(`${'x'.repeat(999)}\n`.repeat(40))
    expect(pieces.map(bytes)).toEqual([15_000, 15_000, 10_000])
    const before = [lines(250).slice(0, -1)]
    for (const grown of [`${before[0]} and\n${lines(99)}`, `${lines(99)}and ${before[0]}\n`]) {
      expect(cut(grown, before).map((piece) => piece.at(-1))).toEqual(['\n', '\n'])
    }
  })

  test('of what was cut keeps all that is not new', () => {
    const before = cut(LARGE)
    const others = (after: string) => cut(after, before).filter((each) => !before.includes(each))
    expect(others(`${LARGE}one more\n`)).toHaveLength(1)
    expect(others(`one more\n${LARGE}`)).toHaveLength(1)
    expect(others(LARGE.replace('line 300.', 'LINE 300.'))).toHaveLength(1)
    expect(others(LARGE.replace('line 300.', lines(100)))).toHaveLength(2)
    expect(others(LARGE)).toEqual([])
    expect(others(LARGE.slice(64 * 20))).toHaveLength(1)
    expect(cut(`${LARGE}${lines(10)}`, before)).toHaveLength(3)
    // Up to as many as a file may have.
    const small = Array.from({ length: 48 }, (_, n) => lines(8, 'line', n * 8))
    expect(cut(small.join(''), small)).toEqual(small)
    expect(cut(`${small.join('')}${lines(600)}`, small)).toHaveLength(5)
  })
})

test('any text of any size comes out byte for byte on the other side', async () => {
  const property = fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 3 }), async (all) => {
    const one = await synced(opened)
    const other = one.beside()
    for (const [at, long] of all.entries()) {
      one.put('a', long)
      one.put('ü', all[at - 1] ?? long)
      expect((await one.sync()).stdout).not.toContain('conflict')
      const left = (await other.sync()).stdout.includes('left alone')
      expect(left || isSame(other.files(), one.files())).toBe(true)
    }
  })
  await fc.assert(property, { numRuns: times(24) })
})

describe('a large file', () => {
  test('is readable by who knows nothing of it, and says what it is made of', async () => {
    const one = await synced(opened)
    const { home, put, sync } = one
    put('d/notes.md', LARGE)
    expect((await sync()).stdout).toBe('sent d/notes.md\n1 sent.\n')
    expect(await keysOf(one)).toEqual(['d..notes.md', 'd..notes.md.1', 'd..notes.md.2'])
    const first = await home.read('d..notes.md')
    expect(first?.metadata).toEqual({
      syncPieces: {
        count: 3,
        bytes: 40_000,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        base: 'd..notes.md',
      },
    })
    expect((await home.read('d..notes.md.2'))?.metadata).toEqual({ syncPiece: 2 })
    expect((await joined(home, 'd..notes.md')) === LARGE).toBe(true)
    expect((await sync()).stdout).toBe('Nothing to do.\n')
  })

  test('writes only the pieces that changed, all or nothing', async () => {
    const { home, put, sync, operator, memories } = await synced(opened)
    put('a', LARGE)
    await sync()
    put('a', LARGE.replace('line 620.', 'LINE 620.'))
    await sync()
    const versions = async () =>
      Object.fromEntries(
        (await Array.fromAsync(home.list())).map(({ key, version }) => [key, version]),
      )
    expect(await versions()).toEqual({ a: 2, 'a.1': 1, 'a.2': 2 })
    const before = await memories()
    await operator.protect('a.1')
    put('a', LARGE.replaceAll('line', 'LINE'))
    const { code, stdout } = await sync()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^left alone a: Nothing was changed: the operator has protected/)
    expect(isSame(await memories(), before)).toBe(true)
    expect(await versions()).toEqual({ a: 2, 'a.1': 1, 'a.2': 2 })
    await operator.unprotect('a.1')
    expect((await sync()).stdout).toBe('sent a\n1 sent.\n')
    expect(await versions()).toEqual({ a: 3, 'a.1': 2, 'a.2': 3 })
  })

  test('that both sides have as it was is not read again', async () => {
    const { home, put, directory, token, sync } = await synced(opened)
    put('a', LARGE)
    await sync()
    const changed = LARGE.replace('line 300.', 'LINE 300.')
    put('a', changed)
    await home.edit('a.1', 'line 300.', 'LINE 300.')
    await sync()
    const asked: string[] = []
    const noted: typeof fetch = (...args) => {
      asked.push(String(args[0]).replace(/.*\/me\//, ''))
      return fetch(...args)
    }
    const { rounds, close } = roundsIn({ directory, token, url: opened.url }, noted)
    expect(await rounds.round()).toMatchObject({ again: false, open: [] })
    close()
    expect(asked).toEqual(['memories?prefix=&view=summary&limit=100'])
  })

  test('grows from one memory, shrinks to one, and keeps other metadata', async () => {
    const one = await synced(opened)
    const other = one.beside()
    await one.home.write('a', 'short\n', { expectedVersion: 0, metadata: { pinned: true } })
    for (const long of ['short\n', LARGE, lines(400), '', LARGE, 'short\n']) {
      await one.sync()
      one.put('a', long)
      await one.sync()
      await other.sync()
      expect(isSame(other.files(), { a: long })).toBe(true)
    }
    expect(await keysOf(one)).toEqual(['a'])
    expect((await one.home.read('a'))?.metadata).toEqual({ pinned: true })
  })

  test('is renamed and deleted with all of its pieces', async () => {
    const one = await synced(opened)
    const other = one.beside()
    one.put('a', LARGE)
    await one.sync()
    await other.sync()
    const { id } = (await one.home.read('a.2')) ?? {}
    renameSync(join(one.directory, 'a'), join(one.directory, 'b'))
    expect((await one.sync()).stdout).toBe('renamed a to b\n1 renamed.\n')
    expect(await keysOf(one)).toEqual(['b', 'b.1', 'b.2'])
    expect((await one.home.read('b.2'))?.id).toBe(id)
    expect((await joined(one.home, 'b')) === LARGE).toBe(true)
    expect((await other.sync()).stdout).toBe('removed a\nreceived b\n1 received, 1 removed.\n')
    expect(isSame(other.files(), { b: LARGE })).toBe(true)
    // A key that had a memory is not renamed to.
    await one.home.write('c.1', 'c', { expectedVersion: 0 })
    await one.home.delete('c.1', { expectedVersion: 1 })
    renameSync(join(one.directory, 'b'), join(one.directory, 'c'))
    expect((await one.sync()).stdout).toBe('sent c\ndeleted b\n1 sent, 1 deleted.\n')
    expect(await keysOf(one)).toEqual(['c', 'c.1', 'c.2'])
    one.put('c', undefined)
    expect((await one.sync()).stdout).toBe('deleted c\n1 deleted.\n')
    expect(await keysOf(one)).toEqual([])
    await other.sync()
    expect(other.files()).toEqual({})
  })

  test('is merged as a whole, and in conflict as a whole', async () => {
    const one = await synced(opened)
    const other = one.beside()
    one.put('a', LARGE)
    await one.sync()
    await other.sync()
    one.put('a', LARGE.replace('line 3.', 'MINE 3.'))
    other.put('a', LARGE.replace('line 600.', 'THEIRS 600.'))
    await one.sync()
    expect((await other.sync()).stdout).toContain('merged a\n')
    await one.sync()
    const both = LARGE.replace('line 3.', 'MINE 3.').replace('line 600.', 'THEIRS 600.')
    expect([one, other].map(({ files }) => isSame(files(), { a: both }))).toEqual([true, true])
    one.put('a', both.replace('line 300.', 'mine 300.'))
    other.put('a', both.replace('line 300.', 'theirs 300.'))
    await one.sync()
    expect((await other.sync()).code).toBe(3)
    expect(other.files()['a.theirs'] === one.files().a).toBe(true)
    other.put('a.theirs', undefined)
    expect((await other.sync()).stdout).toBe('sent a\n1 sent.\n')
    await one.sync()
    expect(one.files().a === both.replace('line 300.', 'theirs 300.')).toBe(true)
  })

  test('whose merge is too large stays as it is, and says so', async () => {
    const one = await synced(opened)
    const other = one.beside()
    const [long, more] = ['x', 'y'].map((each) => `${each.repeat(4_999)}\n`.repeat(40))
    one.put('a', `${long}`)
    await one.sync()
    await other.sync()
    one.put('a', `${long}${more}`)
    other.put('a', `${more}${long}`)
    await one.sync()
    const { stdout } = await other.sync()
    expect(stdout).toContain('left alone a: the merge: 600000 bytes are more than a file may have')
    expect(other.files().a === `${more}${long}`).toBe(true)
  })
})

describe('a file with the name of a piece', () => {
  const small = 'a file of its own\n'

  test('is there first: the pieces are elsewhere', async () => {
    const one = await synced(opened)
    const other = one.beside()
    await one.home.write('a.2', small, { expectedVersion: 0 })
    one.put('a', LARGE)
    await one.sync()
    const all = { a: LARGE, 'a.2': small }
    await other.sync()
    expect([one, other].map(({ files }) => isSame(files(), all))).toEqual([true, true])
    expect((await keysOf(one)).map((key) => key.replace(/[0-9a-f]{64}/, 'HASH'))).toEqual([
      'a',
      'a.2',
      'sha256.HASH.1',
      'sha256.HASH.2',
    ])
    expect((await joined(one.home, 'a')) === LARGE).toBe(true)
    one.put('a', `${LARGE}more\n`)
    await one.sync()
    one.put('a', undefined)
    await one.sync()
    await other.sync()
    expect(other.files()).toEqual({ 'a.2': small })
    expect(await keysOf(one)).toEqual(['a.2'])
  })

  test('comes later, on either side: the pieces make way', async () => {
    const one = await synced(opened)
    const other = one.beside()
    one.put('a', LARGE)
    await one.sync()
    await other.sync()
    other.put('a.1', small)
    expect((await other.sync()).stdout).toBe('sent a.1\n1 sent.\n')
    await one.sync()
    const all = { a: LARGE, 'a.1': small }
    expect([one, other].map(({ files }) => isSame(files(), all))).toEqual([true, true])
    expect((await joined(one.home, 'a')) === LARGE).toBe(true)
    expect((await one.sync()).stdout).toBe('Nothing to do.\n')
    one.put('a.1', `${small}${small}`)
    one.put('a', LARGE.replace('line 3.', 'LINE 3.'))
    await one.sync()
    await other.sync()
    expect(isSame(other.files(), one.files())).toBe(true)
  })

  test('and is large itself', async () => {
    const one = await synced(opened)
    const other = one.beside()
    one.put('a', LARGE)
    await one.sync()
    one.put('a.1', lines(700, 'other'))
    one.put('a.1.1', lines(800, 'third'))
    await one.sync()
    await other.sync()
    expect(isSame(other.files(), one.files())).toBe(true)
    expect(Object.keys(other.files())).toEqual(['a', 'a.1', 'a.1.1'])
  })

  test('and was deleted in the home before it was a piece', async () => {
    const one = await synced(opened)
    const other = one.beside()
    one.put('a.1', small)
    await one.sync()
    await other.sync()
    one.put('a.1', undefined)
    await one.sync()
    one.put('a', LARGE)
    await one.sync()
    expect(await keysOf(one)).toEqual(['a', 'a.1', 'a.2'])
    await other.sync()
    expect(isSame(other.files(), { a: LARGE })).toBe(true)
  })

  test('with a protected piece is named, and both stay as they are', async () => {
    const one = await synced(opened)
    one.put('a', LARGE)
    await one.sync()
    await one.operator.protect('a.1')
    one.put('a.1', small)
    const { code, stdout } = await one.sync()
    expect(code).toBe(0)
    expect(stdout).toContain('left alone a.1: Nothing was changed: the operator has protected')
    expect((await joined(one.home, 'a')) === LARGE).toBe(true)
  })

  test('whose key is too long for numbers has its pieces elsewhere', async () => {
    const one = await synced(opened)
    const other = one.beside()
    const name = 'k'.repeat(99)
    one.put(name, LARGE)
    one.put('c d', LARGE)
    expect((await one.sync()).stdout).toBe(`sent c d\nsent ${name}\n2 sent.\n`)
    await other.sync()
    expect(isSame(other.files(), one.files())).toBe(true)
  })

  test('under a prefix that leaves no key for pieces is named', async () => {
    const one = await synced(opened)
    const prefix = 'p'.repeat(28)
    one.put('a', LARGE)
    one.put('a.1', small)
    const { code, stdout } = await one.sync('--prefix', prefix)
    expect(code).toBe(0)
    expect(stdout).toContain(
      'left alone a: with the prefix its key would have more than 100 characters: use a shorter prefix\n',
    )
    expect(await keysOf(one)).toEqual([`${prefix}a.1`])
  })

  test('under a prefix of a directory, where keys of hashes are beside it', async () => {
    const one = await synced(opened)
    const other = one.beside()
    for (const path of ['a', 'c d']) one.put(path, LARGE)
    one.put('a.1', small)
    await one.sync('--prefix', 'notes..')
    await other.sync('--prefix', 'notes..')
    expect(isSame(other.files(), one.files())).toBe(true)
    expect((await keysOf(one)).every((key) => key.startsWith('notes.'))).toBe(true)
  })
})

describe('an agent that knows nothing of pieces', () => {
  async function three(): Promise<{ one: Synced; other: Synced; home: AgentHome }> {
    const one = await synced(opened)
    one.put('a', LARGE)
    await one.sync()
    const other = one.beside()
    await other.sync()
    return { one, other, home: one.home }
  }

  const manifest = async (home: AgentHome) =>
    (await home.read('a'))?.metadata.syncPieces as Metadata | undefined

  async function bothHave({ one, other }: { one: Synced; other: Synced }, long: string) {
    expect((await one.sync()).code).toBe(0)
    expect((await other.sync()).code).toBe(0)
    expect([one, other].map(({ files }) => isSame(files(), { a: long }))).toEqual([true, true])
    for (const each of [one, other]) expect((await each.sync()).stdout).toBe('Nothing to do.\n')
  }

  test.each(['a', 'a.1', 'a.2', 'a and a.1'])('changes the file by writing %s', async (which) => {
    const all = await three()
    const { home } = all
    const before = await manifest(home)
    let long = LARGE
    for (const key of which.split(' and ')) {
      const { text: piece = '' } = (await home.read(key)) ?? {}
      // Without the metadata that were there.
      const changed = { expectedVersion: 1, metadata: {} }
      await home.write(key, `${piece}of an agent\n`, changed)
      long = long.replace(piece, `${piece}of an agent\n`)
    }
    await bothHave(all, long)
    expect((await manifest(home))?.sha256).not.toBe(before?.sha256)
    expect((await manifest(home))?.bytes).toBe(bytes(long))
    expect((await home.read('a.1'))?.metadata).toEqual({ syncPiece: 1 })
  })

  test('copies the metadata of the first: its pieces stay its own', async () => {
    const { one, other, home } = await three()
    const { metadata } = (await home.read('a')) ?? {}
    await home.write('A', 'a copy', { expectedVersion: 0, ...(metadata && { metadata }) })
    expect((await one.sync()).stdout).toContain('left alone A: its piece a.1 is not')
    await other.sync()
    expect([one, other].map(({ files }) => isSame(files(), { a: LARGE }))).toEqual([true, true])
  })

  test('changes it while the file is changed here: both are merged', async () => {
    const all = await three()
    await all.home.edit('a.1', 'line 300.', 'LINE 300.')
    all.one.put('a', LARGE.replace('line 3.', 'LINE 3.'))
    await bothHave(all, LARGE.replace('line 300.', 'LINE 300.').replace('line 3.', 'LINE 3.'))
  })

  test('renames the first: the others come along', async () => {
    const { one, other, home } = await three()
    await home.rename('a', 'b', { expectedVersion: 1 })
    await one.sync()
    await other.sync()
    expect([one, other].map(({ files }) => isSame(files(), { b: LARGE }))).toEqual([true, true])
    expect(await keysOf(one)).toEqual(['b', 'b.1', 'b.2'])
  })

  test('renames all of them', async () => {
    const { one, other, home } = await three()
    const moves = ['', '.1', '.2'].map((end) => {
      return { rename: { from: `a${end}`, to: `old..a${end}`, expectedVersion: 1 } }
    })
    await home.batch(moves)
    await one.sync()
    await other.sync()
    const all = { 'old/a': LARGE }
    expect([one, other].map(({ files }) => isSame(files(), all))).toEqual([true, true])
  })

  test('deletes the first: the file is removed, and so are the others', async () => {
    const { one, other, home } = await three()
    await home.delete('a', { expectedVersion: 1 })
    expect((await one.sync()).stdout).toBe('removed a\n1 removed.\n')
    await other.sync()
    expect([one.files(), other.files()]).toEqual([{}, {}])
    expect(await keysOf(one)).toEqual([])
  })

  test('deletes another: the file stays as it is, and says what is missing', async () => {
    const { one, other, home } = await three()
    await home.delete('a.1', { expectedVersion: 1 })
    one.put('a', LARGE.replace('line 3.', 'LINE 3.'))
    const said =
      'left alone a: its piece a.1 is not in the home: restore it, or delete the memory\n'
    for (const each of [one, other, one.beside()]) {
      const { code, stdout } = await each.sync()
      expect([code, stdout]).toEqual([0, `${said}1 left alone.\n`])
    }
    expect(isSame(other.files(), { a: LARGE })).toBe(true)
    await home.restore('a.1', 1, { expectedVersion: 0 })
    await bothHave({ one, other }, LARGE.replace('line 3.', 'LINE 3.'))
  })

  test('writes the first without its manifest: a new directory waits for one that knows it', async () => {
    const { one, home } = await three()
    await home.write('a', 'short\n', { expectedVersion: 1, metadata: {} })
    const fresh = one.beside()
    expect((await fresh.sync()).stdout).toContain('left alone a.1: it is a piece of a, which does')
    expect(fresh.files()).toEqual({ a: 'short\n' })
    await bothHave({ one, other: fresh }, `short\n${LARGE.slice(15_360)}`)
  })

  test('adds nothing to a memory beyond the reach of its key', async () => {
    const { home, operator, sync, files } = await synced(opened)
    await home.write('n', 'n', { expectedVersion: 0 })
    const { token } = await operator.createKey({ name: 'n', access: 'write', prefix: 'n.' })
    const limited = new AgentHome({ url: opened.url, token })
    await limited.write('n.1', 'more', { expectedVersion: 0, metadata: { syncPiece: 1 } })
    await sync()
    expect(files()).toEqual({ n: 'n' })
    expect((await home.read('n'))?.version).toBe(1)
  })

  test('restores a piece that the file has no more', async () => {
    const { one, home } = await three()
    one.put('a', lines(300))
    await one.sync()
    await home.restore('a.2', 1, { expectedVersion: 0 })
    const { code, stdout } = await one.sync()
    expect(code).toBe(0)
    expect(stdout).toContain('left alone a.2: it is a piece of a, which does not have it')
    expect(isSame(one.files(), { a: lines(300) })).toBe(true)
  })

  test('says in metadata that other memories are pieces: they stay what they are', async () => {
    const { home, sync, files, operator, beside } = await synced(opened)
    const made = (base: string) => ({ syncPieces: { count: 2, bytes: 1, sha256: 'x', base } })
    await home.write('secret.1', 'other', { expectedVersion: 0 })
    for (const [key, base] of [
      ['n.x', 'secret'],
      ['n.y', 'n.y'],
      ['n.z', ''],
    ] as const) {
      await home.write(key, key, { expectedVersion: 0, metadata: made(base) })
    }
    // Its base would be out of the key's reach.
    await home.write('n.1', 'n.1', { expectedVersion: 0, metadata: { syncPiece: 1 } })
    const { token } = await operator.createKey({ name: 'n', access: 'write', prefix: 'n.' })
    const limited = beside(token)
    expect((await limited.sync()).code).toBe(0)
    expect(limited.files()).toEqual({ '1': 'n.1', z: 'n.z' })
    const { stdout } = await sync()
    expect(stdout).toContain('left alone n.x: its piece secret.1 is not in the home')
    expect(files()).toEqual({ 'n.z': 'n.z', 'secret.1': 'other' })
  })
})

describe('a token with fewer rights', () => {
  test('that only reads receives it, also what an agent changed in it', async () => {
    const one = await synced(opened)
    const { token } = await one.operator.createKey({ name: 'r', access: 'read' })
    const reader = one.beside(token)
    one.put('a', LARGE)
    await one.sync()
    expect((await reader.sync()).stdout).toBe('received a\n1 received.\n')
    await one.home.edit('a.1', 'line 300.', 'LINE 300.')
    const changed = LARGE.replace('line 300.', 'LINE 300.')
    for (const flags of [[], ['--read-only']]) {
      expect((await reader.sync(...flags)).code).toBe(0)
      expect(isSame(reader.files(), { a: changed })).toBe(true)
    }
    await one.sync()
    await one.home.delete('a', { expectedVersion: 2 })
    expect((await reader.sync()).stdout).toContain('removed a\n')
    expect(reader.files()).toEqual({})
    expect(await keysOf(one)).toEqual(['a.1', 'a.2'])
    await one.sync()
    expect(await keysOf(one)).toEqual([])
  })
})

describe('what is read while it is written', () => {
  /** Who reads the second piece waits until somebody has written. */
  async function reading(write: (one: Synced, nth: number) => Promise<unknown>) {
    const one = await synced(opened)
    one.put('a', LARGE)
    await one.sync()
    const { directory, token, sync, files } = one.beside()
    await sync()
    one.put('a', LARGE.replaceAll('line', 'LINE'))
    await one.sync()
    let reads = 0
    const meanwhile: typeof fetch = async (...args) => {
      if (String(args[0]).endsWith('memory?key=a.1')) await write(one, reads++)
      return fetch(...args)
    }
    return { one, files, ...roundsIn({ directory, token, url: opened.url }, meanwhile) }
  }

  test('is read again, and never mixed', async () => {
    const { one, rounds, files, close } = await reading(async ({ put, sync }, nth) => {
      if (nth > 0) return
      put('a', LARGE.replaceAll('line', 'Line'))
      await sync()
    })
    const { open } = await rounds.round()
    close()
    expect(open).toEqual([])
    expect(isSame(files(), { a: LARGE.replaceAll('line', 'Line') })).toBe(true)
    expect((await one.sync()).stdout).toBe('Nothing to do.\n')
  })

  test('again and again is left for the next pass', async () => {
    const { rounds, files, close, one } = await reading(({ home }, nth) =>
      home.append('a.1', `${nth}\n`),
    )
    const { open } = await rounds.round()
    close()
    expect(open).toMatchObject([{ did: 'left', why: 'other programs are writing its pieces' }])
    expect(isSame(files(), { a: LARGE })).toBe(true)
    await one.sync()
    expect(one.files().a).toContain('LINE')
  })
})

test('what was synced by a version that knows no pieces becomes whole', async () => {
  const one = await synced(opened)
  one.put('a', LARGE)
  await one.sync()
  const old = await synced(opened)
  for (const [key, piece] of Object.entries(await one.memories())) {
    await old.home.write(key, piece, { expectedVersion: 0 })
  }
  await old.sync()
  expect(Object.keys(old.files())).toEqual(['a', 'a.1', 'a.2'])
  const marks = { 'a.1': { syncPiece: 1 }, 'a.2': { syncPiece: 2 } }
  const { metadata } = (await one.home.read('a')) ?? {}
  await old.home.batch(
    Object.entries({ a: metadata ?? {}, ...marks }).map(([key, each]) => {
      return { patch: { key, metadata: each, expectedVersion: 1 } }
    }),
  )
  await old.sync()
  expect(isSame(old.files(), { a: LARGE })).toBe(true)
})

test('more large text than may be in memory at once is left in part', async () => {
  const { directory } = await synced(opened)
  const large = 'x'.repeat(524_288)
  for (let n = 0; n < 129; n++) writeFileSync(join(directory, `f${n}`), large)
  writeFileSync(join(directory, 'small'), 'small')
  const { files, unfit } = new Folder(directory).scan(() => false)
  expect([files.size, files.get('small')]).toEqual([129, 'small'])
  const why = 'files over 16384 bytes have more than 67108864 bytes together'
  expect([...unfit.values()]).toEqual([why])
})
