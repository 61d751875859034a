/** What `agent-home sync` is made of: names, the disk, and what stands between two looks. */
import fs, {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import { batchesOf } from '../../src/cli/remote/sync/home-side.ts'
import { whyUnusable } from '../../src/cli/remote/sync/names.ts'
import { clashes, pathsUnder } from '../../src/cli/remote/sync/paths.ts'
import {
  type Action,
  type Common,
  isTurnedBack,
  lossesIn,
  plan,
  type Remembered,
} from '../../src/cli/remote/sync/plan.ts'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import { filesIn, freshFolder, removeFolders } from './sync.ts'

afterAll(removeFolders)

const ignores = () => false

/** Before the next call of this function of Node's. */
function meanwhile(name: 'fsyncSync' | 'linkSync' | 'renameSync', work: () => void): void {
  const own = fs[name]
  const put = (each: unknown) => {
    Object.assign(fs, { [name]: each })
    syncBuiltinESMExports()
  }
  put((...args: Parameters<typeof own>) => {
    put(own)
    work()
    return (own as (...all: typeof args) => void)(...args)
  })
}

const LINUX = { ignoresCase: false, ignoresForm: false }
const MAC = { ignoresCase: true, ignoresForm: true }

describe('names', () => {
  const name = fc.stringMatching(/^[\w. ü-]{1,20}$/)
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
  const prefix = fc.constantFrom('', 'memories..', 'a..b..', 'notes.', 'x-')

  test('each path has one key, which leads back to it, and no two have the same', () => {
    fc.assert(
      fc.property(prefix, path, path, (under, one, other) => {
        const { keyOf, pathOf, said, isWithin } = pathsUnder(under)
        const key = keyOf(one)
        expect(key).toMatch(/^[\w.-]{1,100}$/)
        const metadata = { path: said(one) }
        expect(isWithin(key, metadata)).toBe(true)
        const isHidden = one
          .split('/')
          .some((each) => each.startsWith('.') || each.endsWith('.theirs'))
        const isFile = !isHidden && whyUnusable(one) === undefined
        expect(pathOf(key, metadata)).toBe(isFile ? one : undefined)
        if (one !== other) expect(keyOf(other)).not.toBe(key)
      }),
    )
  })

  test('plain ones are readable', () => {
    const { keyOf } = pathsUnder('')
    expect(keyOf('a/b.md')).toBe('a..b.md')
    expect(keyOf('sha256.0000')).toMatch(/^sha256\.[0-9a-f]{64}$/)
    expect(keyOf('k'.repeat(100))).toBe('k'.repeat(100))
    expect(keyOf('k'.repeat(101))).toMatch(/^sha256\.[0-9a-f]{64}$/)
  })

  test('others say the whole path, as the memory tool does, however deep the prefix', () => {
    expect(pathsUnder('memories..').said('c d')).toBe('/memories/c d')
    expect(pathsUnder('memories..a..b..').said('c d')).toBe('/memories/a/b/c d')
  })
})

describe('names that some system has other plans for', () => {
  test.each([
    ...['a\\b', 'x\\..\\..\\outside', 'C:\\x', 'C:', 'd/C:x', 'note.md:stream', 'a?', 'a*', 'a"b'],
    ...['a<b', 'a>b', 'a|b', 'a\tb', 'a\u007f', 'a\nb', '\\\\host\\share', 'x:y/z'],
    ...['CON', 'con', 'NUL.txt', 'nul.tar.gz', 'aux', 'prn.md', 'COM1', 'com9.log', 'LPT1.txt'],
    ...['com¹', 'CONIN$', 'conout$.x', 'CON .txt', 'd/NUL', 'nul/d', 'NUL ..x'],
    ...['a.', 'a ', 'a. .', 'd./a', 'd /a', 'é'.repeat(128), 'a'.repeat(256)],
    ...[`${'a/'.repeat(101)}a`, `${'a/'.repeat(2_000)}a`, `${`${'b'.repeat(99)}/`.repeat(10)}ab`],
  ])('%j is left alone on each', (path) => {
    const { keyOf, pathOf, said, unusable } = pathsUnder('')
    const metadata = { path: said(path) }
    expect(pathOf(keyOf(path), metadata)).toBeUndefined()
    const { why } = unusable(keyOf(path), metadata)
    expect(why).toMatch(/Windows|bytes|directories deep/)
    expect(unusable(keyOf(path), metadata).path).toBe(path)
    const files = new Map([[path, 'text']])
    const disk = { files, unfit: new Map(), besides: new Set<string>(), standing: [] }
    const state = new Map<string, Common>([[keyOf(path), { path, version: 1, text: 'old' }]])
    for (const known of [state, new Map<string, Common>()]) {
      const sides = {
        disk,
        memories: new Map(),
        state: known,
        paths: pathsUnder(''),
        folding: LINUX,
      }
      expect(plan({ ...sides, readOnly: false, ignores })).toEqual([
        { key: keyOf(path), path, does: 'leave', why },
      ])
    }
  })

  test.each([
    ...['a', 'console', 'CONTACTS.md', 'com', 'com10', 'lpt', 'nullable.md', 'a con', 'con-a.txt'],
    ...[
      'a..b',
      'ünï cödé',
      'a;b',
      "a'b",
      'a,b',
      'a&b',
      'a%b',
      `${'a/'.repeat(100)}a`,
      'é'.repeat(127),
      'a'.repeat(255),
      `${'b'.repeat(249)}/`.repeat(4).slice(0, -1),
    ],
  ])('%j is fine', (path) => {
    const { keyOf, pathOf, said } = pathsUnder('')
    expect(pathOf(keyOf(path), { path: said(path) })).toBe(path)
  })
})

describe('files that would be one', () => {
  const left = (wanted: string[], there: string[], folding = MAC) => [
    ...clashes(
      wanted,
      there.map((path) => ({ path })),
      folding,
    ).keys(),
  ]

  test('where case does not count, none of them is written', () => {
    expect(left(['Plan.md', 'plan.md', 'other'], [])).toEqual(['plan.md', 'Plan.md'])
    expect(left(['Plan.md'], ['plan.md'])).toEqual(['Plan.md'])
    expect(left(['Notes/a', 'notes/b'], [])).toEqual(['notes/b', 'Notes/a'])
    expect(left(['notes/b'], ['Notes/a'])).toEqual(['notes/b'])
    expect(left(['straße', 'STRASSE'], [])).toHaveLength(2)
    expect(left(['Plan.md', 'plan.md', 'Notes/a', 'notes/b'], ['PLAN.md'], LINUX)).toEqual([])
  })

  test('where letters have one form, the other forms are left', () => {
    const composed = 'caf\u00e9'
    const apart = composed.normalize('NFD')
    expect(left([composed, apart], [])).toEqual([apart])
    expect(left([composed, apart], [], LINUX)).toEqual([])
  })

  test('a file is not a directory', () => {
    expect(left(['a', 'a/b'], [], LINUX)).toEqual(['a/b', 'a'])
    expect(left(['a/b'], ['a'], LINUX)).toEqual(['a/b'])
    expect(left(['a'], ['a/b'], LINUX)).toEqual(['a'])
    expect(left(['a/c', 'a/d/e'], ['a/b'], LINUX)).toEqual([])
  })

  test('what is written has the rest of the plan done all the same', () => {
    const memories = new Map<string, Remembered>(
      ['Plan', 'plan', 'other'].map((key) => [key, { version: 1, metadata: {}, text: key }]),
    )
    const disk = { files: new Map(), unfit: new Map(), besides: new Set<string>(), standing: [] }
    const paths = pathsUnder('')
    const sides = { disk, memories, state: new Map(), paths, readOnly: false, ignores }
    const does = (folding: typeof MAC) => plan({ ...sides, folding }).map((each) => each.does)
    expect(does(MAC)).toEqual(['leave', 'leave', 'receive'])
    expect(does(LINUX)).toEqual(['receive', 'receive', 'receive'])
  })
})

test('a merge that arrived without being recorded is received, and not overwritten', () => {
  const sent = { text: 'merge', from: 'mine' }
  const action = plan({
    disk: {
      files: new Map([['a', 'mine']]),
      unfit: new Map(),
      besides: new Set(),
      standing: [{ path: 'a' }],
    },
    memories: new Map([['a', { version: 2, metadata: {}, text: 'merge' }]]),
    state: new Map([['a', { path: 'a', version: 0, text: 'old', sent }]]),
    paths: pathsUnder(''),
    folding: LINUX,
    readOnly: false,
    ignores,
  })
  expect(action).toMatchObject([{ does: 'receive', version: 2, text: 'merge', expected: 'mine' }])
})

test('a home with an earlier version of anything was turned back', () => {
  const state = new Map<string, Common>([['a', { path: 'a', version: 3, text: 'a' }]])
  const at = (version: number) => new Map<string, Remembered>([['a', { version, metadata: {} }]])
  expect(isTurnedBack(at(2), state)).toBe(true)
  expect(isTurnedBack(at(3), state)).toBe(false)
  expect(isTurnedBack(new Map(), state)).toBe(false)
})

test('more than ten are much, if they are more than half', () => {
  const state = new Map<string, Common>(
    Array.from({ length: 22 }, (_, n) => [`f${n}`, { path: `f${n}`, version: 1, text: 'a' }]),
  )
  const removing = (count: number, of: number) => {
    const known = new Map([...state].slice(0, of))
    const lost = [...known].slice(0, count).map(([key, { path }]): Action => {
      return { key, path, does: 'remove', expected: 'a' }
    })
    return lossesIn(lost, known) !== undefined
  }
  expect([removing(10, 10), removing(11, 21), removing(11, 22)]).toEqual([false, true, false])
})

test('a batch has a hundred operations at most, of a million bytes together', () => {
  const sizes = (count: number, text: string) =>
    batchesOf(
      Array.from({ length: count }, (_, n) => ({
        actions: [],
        steps: [
          { operation: { write: { key: `f${n}`, text, expectedVersion: 0 } }, apply: () => {} },
        ],
        changes: () => [],
      })),
    ).map(({ length }) => length)
  expect(sizes(101, 'a')).toEqual([100, 1])
  expect(sizes(101, 'a'.repeat(16_000))).toEqual([62, 39])
})

describe('a file that a program changes meanwhile', () => {
  const at = { key: 'a', path: 'a' }
  const fresh = (text: string, holdMs = 0) => {
    const directory = freshFolder()
    writeFileSync(join(directory, 'a'), text)
    return { directory, folder: new Folder(directory, { holdMs }), file: join(directory, 'a') }
  }

  test('is not replaced, not removed, and not created over', () => {
    const { directory, folder, file } = fresh('new')
    expect(folder.write(at, 'theirs', 'old')).toBe('raced')
    expect(folder.remove(at, 'old')).toBe('raced')
    expect(folder.write(at, 'theirs', undefined)).toBe('raced')
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(readdirSync(join(directory, '.agent-home'))).toEqual(['held'])
    expect(readdirSync(join(directory, '.agent-home/held'))).toEqual([])
    rmSync(file)
    expect(folder.write(at, 'theirs', 'old')).toBe('raced')
    expect(existsSync(file)).toBe(false)
  })

  const programs = {
    'by renaming': (file: string) => {
      writeFileSync(`${file}.part`, 'of a program')
      renameSync(`${file}.part`, file)
    },
    'in place': (file: string) => writeFileSync(file, 'of a program'),
  }

  test.each(Object.keys(programs))('%s between two steps of ours is not overwritten', (how) => {
    const program = programs[how as keyof typeof programs]
    const written = fresh('old')
    meanwhile('fsyncSync', () => program(written.file))
    expect(written.folder.write(at, 'theirs', 'old')).toBe('raced')
    expect(filesIn(written.directory)).toEqual({ a: 'of a program' })

    const removed = fresh('old')
    meanwhile('renameSync', () => program(removed.file))
    expect(removed.folder.remove(at, 'old')).toBe('raced')
    expect(filesIn(removed.directory)).toEqual({ a: 'of a program' })

    const created = fresh('old')
    meanwhile('fsyncSync', () => program(join(created.directory, 'b')))
    expect(created.folder.write({ key: 'b', path: 'b' }, 'theirs', undefined)).toBe('raced')
    expect(filesIn(created.directory)).toEqual({ a: 'old', b: 'of a program' })
  })

  test('twice between two steps of ours: both of its texts are there', () => {
    const { directory, folder, file } = fresh('old')
    meanwhile('renameSync', () => {
      writeFileSync(file, 'of a program')
      meanwhile('linkSync', () => writeFileSync(file, 'and another'))
    })
    expect(folder.remove(at, 'old')).toBe('raced')
    expect(filesIn(directory)).toEqual({ a: 'and another', 'a.late.theirs': 'of a program' })
  })

  test('is not created over where the system has no links', () => {
    const { directory, folder } = fresh('old')
    meanwhile('linkSync', () => {
      writeFileSync(join(directory, 'b'), 'of a program')
      throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
    })
    expect(folder.write({ key: 'b', path: 'b' }, 'theirs', undefined)).toBe('raced')
    expect(filesIn(directory)).toEqual({ a: 'old', b: 'of a program' })
  })

  test.each(['write', 'remove'] as const)('and had open before a %s is rescued', (does) => {
    const { directory, folder, file } = fresh('old\n')
    const fd = openSync(file, 'a')
    const outcome =
      does === 'write' ? folder.write(at, 'new\n', 'old\n') : folder.remove(at, 'old\n')
    expect(outcome).toBe('done')
    writeSync(fd, 'late\n')
    closeSync(fd)
    const pathOf = () => 'a'
    expect(folder.rescue(pathOf)).toEqual([{ key: 'a', name: 'a.late.theirs' }])
    expect(folder.rescue(pathOf)).toEqual([])
    const kept = { 'a.late.theirs': 'old\nlate\n' }
    expect(filesIn(directory)).toEqual(does === 'write' ? { a: 'new\n', ...kept } : kept)
  })

  test('may take its time', () => {
    const { folder, file } = fresh('old\n', 1_000_000)
    // It counts from when it was replaced, however old the file is.
    utimesSync(file, 1, 1)
    const fd = openSync(file, 'a')
    folder.write(at, 'new\n', 'old\n')
    expect(folder.rescue(() => 'a')).toEqual([])
    writeSync(fd, 'late\n')
    closeSync(fd)
    expect(readdirSync(join(folder.root, '.agent-home/held'))).toHaveLength(1)
  })

  test('what was only held is let go', () => {
    const { directory, folder } = fresh('old\n')
    folder.write(at, 'new\n', 'old\n')
    expect(folder.rescue(() => 'a')).toEqual([])
    expect(readdirSync(join(directory, '.agent-home/held'))).toEqual([])
  })
})

test('the version of the home that its user edited stays beside the file', () => {
  const directory = freshFolder()
  const folder = new Folder(directory)
  for (const path of ['a', 'b']) folder.putBeside(path, 'theirs')
  writeFileSync(join(directory, 'a.theirs'), 'theirs, edited')
  for (const path of ['a', 'b']) folder.dropBeside(path, 'theirs')
  expect(filesIn(directory)).toEqual({ 'a.theirs': 'theirs, edited' })
})

describe('links', () => {
  test('on the way to a file: nothing is written, removed or read beyond them', () => {
    const [directory, outside] = [freshFolder(), freshFolder()]
    writeFileSync(join(outside, 'a'), 'of others')
    symlinkSync(outside, join(directory, 'd'))
    const folder = new Folder(directory)
    const at = { key: 'd..a', path: 'd/a' }
    expect(() => folder.write(at, 'x', 'of others')).toThrow()
    expect(() => folder.write({ ...at, path: 'd/b' }, 'x', undefined)).toThrow()
    expect(() => folder.remove(at, 'of others')).toThrow()
    expect(() => folder.putBeside('d/a', 'x')).toThrow()
    expect(filesIn(outside)).toEqual({ a: 'of others' })
    expect([...folder.scan(ignores).files]).toEqual([])
  })

  test('in the place of a file, or of what is ours', () => {
    const [directory, outside] = [freshFolder(), freshFolder()]
    writeFileSync(join(outside, 'a'), 'old')
    symlinkSync(join(outside, 'a'), join(directory, 'a'))
    const folder = new Folder(directory)
    expect(() => folder.write({ key: 'a', path: 'a' }, 'new', 'old')).toThrow('it is a link')
    expect(() => folder.remove({ key: 'a', path: 'a' }, 'old')).toThrow('it is a link')
    expect(readFileSync(join(outside, 'a'), 'utf8')).toBe('old')
    const other = freshFolder()
    symlinkSync(outside, join(other, '.agent-home'))
    expect(() => new Folder(other)).toThrow('is not a directory')
    expect(readdirSync(outside)).toEqual(['a'])
  })
})

test('a directory that is another now is not taken for an empty one', () => {
  const directory = join(freshFolder(), 'notes')
  mkdirSync(directory)
  const folder = new Folder(directory)
  renameSync(directory, `${directory}.away`)
  mkdirSync(directory)
  expect(() => folder.scan(ignores)).toThrow('is no longer the same directory')
})

test('what is ours is readable only for its owner', () => {
  const directory = freshFolder()
  new Folder(directory)
  expect(statSync(join(directory, '.agent-home')).mode & 0o077).toBe(0)
})

test('of a text that is forgotten the state keeps nothing', () => {
  const file = join(freshFolder(), 'state.db')
  const state = openFolderState(file)
  state.record([{ key: 'a', path: 'a', version: 1, text: 'a password' }])
  expect(readFileSync(file).includes('a password')).toBe(true)
  state.record([{ key: 'a', gone: true }])
  state.close()
  expect(readFileSync(file).includes('a password')).toBe(false)
})

test('state is what was recorded last, and a later format is refused', () => {
  const file = join(freshFolder(), 'state.db')
  const state = openFolderState(file)
  const row = { key: 'a', path: 'a', version: 1, text: 'a\r\n\ufeff' }
  const beside = { version: 2, text: '' }
  const sent = { text: 'b', from: '' }
  state.record([row, { ...row, key: 'b', beside, sent, received: '' }, { ...row, key: 'c' }])
  state.record([{ key: 'c', gone: true }])
  state.setNote('agent', 'x')
  expect(() => openFolderState(file)).toThrow('locked')
  state.close()
  const again = openFolderState(file)
  expect(again.load()).toEqual([row, { ...row, key: 'b', beside, sent, received: '' }])
  expect(again.note('agent')).toBe('x')
  again.close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA user_version = 2')
  db.close()
  expect(() => openFolderState(file)).toThrow('it has format 2')
})
