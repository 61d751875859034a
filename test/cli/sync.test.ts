/** `agent-home sync`: one side's changes come to the other, and nothing is lost on either. */
import { createHash } from 'node:crypto'
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import { syncCommand } from '../../src/cli/remote/sync/sync.ts'
import { processTimers, type Timers } from '../../src/timers.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { speak, terminalOf } from './spoken.ts'
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

/** While the system refuses what a function of Node's is asked for one path. */
async function refusing<T>(
  name: 'mkdirSync' | 'linkSync',
  path: RegExp,
  code: string,
  work: () => Promise<T>,
): Promise<T> {
  const own = fs[name]
  const put = (each: unknown) => {
    Object.assign(fs, { [name]: each })
    syncBuiltinESMExports()
  }
  put((...args: Parameters<typeof own>) => {
    if (args.some((each) => path.test(String(each)))) throw Object.assign(new Error(code), { code })
    return (own as (...all: typeof args) => unknown)(...args)
  })
  try {
    return await work()
  } finally {
    put(own)
  }
}

/** Tells each call of functions of Node's, before it is made, until what it returns is called. */
function watching(
  names: Readonly<Partial<Record<'fsyncSync' | 'linkSync' | 'writeSync', string>>>,
  tell: (step: string, args: readonly unknown[]) => void,
): () => void {
  const { fsyncSync, linkSync, writeSync } = fs
  for (const [name, step] of Object.entries<string>(names)) {
    const call = fs[name as keyof typeof names] as (...args: unknown[]) => unknown
    const told = (...args: unknown[]) => {
      tell(step, args)
      return call(...args)
    }
    Object.assign(fs, { [name]: told })
  }
  syncBuiltinESMExports()
  return () => {
    Object.assign(fs, { fsyncSync, linkSync, writeSync })
    syncBuiltinESMExports()
  }
}

/** The next request to such an address fails as if the network did. */
function failing(address: RegExp): typeof fetch {
  let isAhead = true
  return async (...args) => {
    if (!isAhead || !address.test(String(args[0]))) return fetch(...args)
    isAhead = false
    throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' })
  }
}

const roundsOf = (
  at: { readonly directory: string; readonly token: string },
  ...rest: [fetching: typeof fetch, recording?: () => void]
) => roundsIn({ ...at, url: opened.url }, ...rest)

const TOO_MUCH = 'x'.repeat(524_289)

describe('both ways', () => {
  test('files become memories, memories files, and then nothing is left to do', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    await home.write('plan', 'Step 1', { expectedVersion: 0 })
    await home.write('notes..today.md', '# Today\n', { expectedVersion: 0 })
    put('a/b.md', 'Hello')
    const first = await sync()
    expect(first.code).toBe(0)
    expect(first.stdout).toBe(
      'received notes/today.md\nreceived plan\nsent a/b.md\n2 received, 1 sent.\n',
    )
    expect(files()).toEqual({ plan: 'Step 1', 'notes/today.md': '# Today\n', 'a/b.md': 'Hello' })
    expect(await memories()).toEqual({
      plan: 'Step 1',
      'notes..today.md': '# Today\n',
      'a..b.md': 'Hello',
    })
    expect((await sync()).stdout).toBe('Nothing to do.\n')
  })

  test('changes and removals go to the other side, and metadata stay', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    const metadata = { pinned: true }
    await home.write('a', 'a', { expectedVersion: 0, metadata })
    put('b', 'b')
    put('c/c', 'c')
    await sync()
    put('a', 'a, changed\r\n')
    put('b', undefined)
    await home.delete('c..c', { expectedVersion: 1 })
    expect((await sync()).stdout).toBe(
      'removed c/c\nsent a\ndeleted b\n1 sent, 1 removed, 1 deleted.\n',
    )
    expect(files()).toEqual({ a: 'a, changed\r\n' })
    expect(await memories()).toEqual({ a: 'a, changed\r\n' })
    expect((await home.read('a'))?.metadata).toEqual(metadata)
  })
})

describe('both at once', () => {
  test('lines that do not meet are merged, and both sides have the merge', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    put('list', 'one\ntwo\nthree\nfour\n')
    await sync()
    put('list', 'ONE\ntwo\nthree\nfour\n')
    await home.write('list', 'one\ntwo\nthree\nFOUR\n', { expectedVersion: 1 })
    expect((await sync()).stdout).toBe('merged list\nreceived list\n1 received, 1 merged.\n')
    expect(files()).toEqual({ list: 'ONE\ntwo\nthree\nFOUR\n' })
    expect(await memories()).toEqual(files())
  })

  test('of the same lines, the file stays, the home’s is beside it, and the code is 3', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    put('a/plan.md', 'one\n')
    await sync()
    put('a/plan.md', 'mine\n')
    await home.write('a..plan.md', 'theirs\n', { expectedVersion: 1 })
    for (const round of ['first', 'second']) {
      const { code, stdout } = await sync()
      expect([round, code]).toEqual([round, 3])
      expect(stdout).toContain('conflict a/plan.md: ')
      expect(files()).toEqual({ 'a/plan.md': 'mine\n', 'a/plan.md.theirs': 'theirs\n' })
    }
    expect(await memories()).toEqual({ 'a..plan.md': 'theirs\n' })

    put('a/plan.md', 'mine and theirs\n')
    put('a/plan.md.theirs', undefined)
    expect((await sync()).stdout).toBe('sent a/plan.md\n1 sent.\n')
    expect(await memories()).toEqual({ 'a..plan.md': 'mine and theirs\n' })
  })

  test('what the home becomes while a conflict waits is merged when it is solved', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    put('p', 'one\n\n\nend\n')
    await sync()
    put('p', 'mine\n\n\nend\n')
    await home.write('p', 'theirs\n\n\nend\n', { expectedVersion: 1 })
    await sync()
    await home.write('p', 'theirs\n\n\nEND\n', { expectedVersion: 2 })
    expect((await sync()).code).toBe(3)
    expect(files()['p.theirs']).toBe('theirs\n\n\nend\n')
    put('p.theirs', undefined)
    expect((await sync()).code).toBe(0)
    expect(files()).toEqual({ p: 'mine\n\n\nEND\n' })
    expect(await memories()).toEqual(files())
  })

  test('a conflict is over when both sides have the same text', async () => {
    const { home, sync, put, files } = await synced(opened)
    put('p', 'mine')
    await home.write('p', 'theirs', { expectedVersion: 0 })
    expect((await sync()).code).toBe(3)
    put('p', 'theirs')
    expect((await sync()).code).toBe(0)
    expect(files()).toEqual({ p: 'theirs' })
  })

  test('another file in the place of a conflict’s is not overwritten', async () => {
    const { home, sync, put, files } = await synced(opened)
    put('p', 'mine')
    put('p.theirs', 'a file of my own')
    await home.write('p', 'theirs', { expectedVersion: 0 })
    const { code, stdout } = await sync()
    expect(code).toBe(3)
    expect(stdout).toContain('p.theirs already exists: move it away')
    expect(files()).toEqual({ p: 'mine', 'p.theirs': 'a file of my own' })
  })

  test('a change wins over a removal, on either side', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    put('a', 'a')
    put('b', 'b')
    await sync()
    put('a', undefined)
    await home.write('a', 'a, changed there', { expectedVersion: 1 })
    put('b', 'b, changed here')
    await home.delete('b', { expectedVersion: 1 })
    await sync()
    expect(files()).toEqual({ a: 'a, changed there', b: 'b, changed here' })
    expect(await memories()).toEqual(files())
  })

  test('what the operator erased is not sent again', async () => {
    const { operator, sync, put, files, memories } = await synced(opened)
    put('secret', 'a password')
    put('other', 'other')
    await sync()
    await operator.erase('secret', 'all')
    put('secret', 'a password, and more')
    const { code, stdout } = await sync()
    expect(code).toBe(0)
    expect(stdout).toContain('left alone secret: the operator erased the memory')
    expect(await memories()).toEqual({ other: 'other' })
    expect(files().secret).toBe('a password, and more')
  })
})

describe('names', () => {
  test('a file that has another name keeps its history', async () => {
    const { home, sync, put, directory, memories } = await synced(opened)
    put('a.md', 'one')
    put('other', 'else')
    await sync()
    put('a.md', 'two')
    await sync()
    renameSync(join(directory, 'a.md'), join(directory, 'b.md'))
    expect((await sync()).stdout).toBe('renamed a.md to b.md\n1 renamed.\n')
    expect(await memories()).toEqual({ 'b.md': 'two', other: 'else' })
    const versions = await Array.fromAsync(home.versions('b.md'))
    expect(versions.map(({ operation }) => operation)).toEqual(['rename', 'patch', 'write'])
  })

  test('a name that had another memory is written without its history', async () => {
    const { sync, put, directory, memories } = await synced(opened)
    put('a', 'one')
    put('b', 'two')
    await sync()
    put('b', undefined)
    await sync()
    renameSync(join(directory, 'a'), join(directory, 'b'))
    expect((await sync()).stdout).toBe('sent b\ndeleted a\n1 sent, 1 deleted.\n')
    expect(await memories()).toEqual({ b: 'one' })
  })

  test('what no key can say has a key of its hash, as with the memory tool', async () => {
    const { home, sync, put, memories, beside } = await synced(opened)
    const tool = memoryHandlers(home)
    await tool.create({ command: 'create', path: '/memories/план.md', file_text: 'Крок 1' })
    await tool.create({ command: 'create', path: '/memories/a/b.md', file_text: 'b' })
    await tool.create({ command: 'create', path: '/memories/empty', file_text: '' })
    put('c d.md', 'with a space')
    await sync('--prefix', 'memories..')
    const other = beside()
    await other.sync('--prefix', 'memories..')
    const all = { 'план.md': 'Крок 1', 'a/b.md': 'b', empty: '', 'c d.md': 'with a space' }
    expect(other.files()).toEqual(all)
    const view = await tool.view({ command: 'view', path: '/memories/c d.md' })
    expect(view).toContain('with a space')
    put('empty', 'no longer')
    put('a/b.md', '')
    await sync('--prefix', 'memories..')
    await other.sync('--prefix', 'memories..')
    expect(other.files()).toEqual({ ...all, empty: 'no longer', 'a/b.md': '' })
    expect((await home.read('memories..empty'))?.metadata).toEqual({})
    expect(Object.keys(await memories())).toHaveLength(4)
  })

  test('metadata lead nowhere else', async () => {
    const { home, sync, files, directory } = await synced(opened)
    const keyOf = (path: string) => `sha256.${createHash('sha256').update(path).digest('hex')}`
    const paths = [
      '/../outside',
      '/a/../../b',
      '/.agent-home/state.db',
      '//etc/x',
      '/a.theirs',
      '/',
    ]
    const rows = paths.map((path) => [keyOf(path), path] as const)
    for (const [key, path] of [...rows, [keyOf('/ü'), '/ö'] as const, [keyOf('7'), 7] as const]) {
      await home.write(key, 'x', { expectedVersion: 0, metadata: { path } })
      const { stdout } = await sync()
      expect(stdout).toContain(`left alone ${key}: it is not a valid file name`)
      expect(files()).toEqual({})
    }
    expect(existsSync(join(directory, '..', 'outside'))).toBe(false)
  })

  test('hidden files stay here, and keys that no file can have stay there', async () => {
    const { home, sync, put, memories, files } = await synced(opened)
    put('.env', 'SECRET=1')
    put('.git/config', '[core]')
    put('a.theirs', 'x')
    await home.write('.hidden', 'x', { expectedVersion: 0 })
    await home.write('a...b', 'x', { expectedVersion: 0 })
    expect((await sync()).stdout).toContain('left alone a...b: it is not a valid file name')
    expect(await memories()).toEqual({ '.hidden': 'x', 'a...b': 'x' })
    expect(Object.keys(files())).toEqual(['.env', '.git/config', 'a.theirs'])
  })

  test('a file and a directory of one name: none is lost', async () => {
    const { home, sync, put, files, memories } = await synced(opened)
    put('a', 'a file')
    await sync()
    await home.write('a..b', 'below it', { expectedVersion: 0 })
    expect((await sync()).stdout).toContain(
      'left alone a/b: on this file system its name collides with',
    )
    await home.delete('a', { expectedVersion: 1 })
    expect((await sync()).stdout).toBe('removed a\nreceived a/b\n1 received, 1 removed.\n')
    expect(files()).toEqual({ 'a/b': 'below it' })
    expect(await memories()).toEqual({ 'a..b': 'below it' })
  })
})

describe('what is left alone', () => {
  test('too large, no text, a link, a pipe: named, and as it was', async () => {
    const { home, sync, put, directory, memories } = await synced(opened)
    const outside = freshFolder()
    writeFileSync(join(outside, 'secret'), 'of others')
    put('large', TOO_MUCH)
    put('escaped', '\u0001'.repeat(160_001))
    put('largest', 'x'.repeat(16_384))
    put('latin', Uint8Array.of(0x63, 0x61, 0x66, 0xe9))
    put('nul', 'a\0b')
    put('good', '\ufeffwith a mark\r\n')
    symlinkSync(outside, join(directory, 'linked'))
    symlinkSync(join(outside, 'secret'), join(directory, 'link'))
    await home.write('linked..secret', 'from the home', { expectedVersion: 0 })
    await home.write('link', 'from the home', { expectedVersion: 0 })
    const { code, stdout } = await sync()
    expect(code).toBe(0)
    for (const line of [
      'left alone large: 524289 bytes are more than a file may have (524288)',
      'left alone escaped: with the escapes of JSON it has 960008 bytes, more than one request takes (960000)',
      'left alone latin: it is not UTF-8',
      'left alone nul: it has NUL characters',
      'left alone link: it is a link',
      'left alone linked/secret: linked: it is a link',
    ]) {
      expect(stdout).toContain(`${line}\n`)
    }
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('of others')
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(await memories()).toEqual({
      good: '\ufeffwith a mark\r\n',
      largest: 'x'.repeat(16_384),
      'linked..secret': 'from the home',
      link: 'from the home',
    })
  })

  test('names that some system has other plans for, in the home and here', async () => {
    const { home, sync, put, files, directory, memories } = await synced(opened)
    const deep = `/${'d/'.repeat(2_000)}deep`
    const theirs = [
      '/x\\..\\..\\outside',
      '/C:\\x',
      '/NUL .txt',
      '/a:b',
      '/a.',
      deep,
      `/${'x'.repeat(256)}`,
    ]
    for (const path of theirs) {
      const key = `sha256.${createHash('sha256').update(path).digest('hex')}`
      await home.write(key, 'x', { expectedVersion: 0, metadata: { path } })
    }
    await home.write('con.md', 'x', { expectedVersion: 0 })
    await home.write('good', 'theirs', { expectedVersion: 0 })
    for (const name of ['what?', 'aux', 'b\\c', 'end ']) put(name, 'mine')
    put('mine', 'mine')
    mkdirSync(join(directory, `${'d/'.repeat(150)}`), { recursive: true })
    const { code, stdout } = await sync('--json')
    expect(code).toBe(0)
    const { left, received, sent } = JSON.parse(stdout)
    const named = [...theirs.map((path) => path.slice(1)), 'con.md', 'what?', 'aux', 'b\\c', 'end ']
    const paths = (all: { path: string }[]) => all.map(({ path }) => path).toSorted()
    expect(paths(left)).toEqual([...named, 'd/'.repeat(101).slice(0, -1)].toSorted())
    expect([paths(received), paths(sent)]).toEqual([['good'], ['mine']])
    expect(files()).toEqual({
      ...{
        good: 'theirs',
        mine: 'mine',
        'what?': 'mine',
        aux: 'mine',
        'b\\c': 'mine',
        'end ': 'mine',
      },
    })
    expect(Object.keys(await memories())).toHaveLength(theirs.length + 3)
  })

  test.each([
    ['mkdirSync', 'EACCES', 'the system refuses it (EACCES)', 0],
    ['mkdirSync', 'EMLINK', 'the system refuses it (EMLINK)', 0],
    ['linkSync', 'EDQUOT', 'there is no space for it here (EDQUOT)', 1],
    ['linkSync', 'ENOSPC', 'there is no space for it here (ENOSPC)', 1],
    ['linkSync', 'ENAMETOOLONG', 'the system refuses it (ENAMETOOLONG)', 0],
  ] as const)('what %s refuses with %s, and the rest is synced', async (name, code, why, exit) => {
    const { home, sync, files, put, memories } = await synced(opened)
    for (const key of ['a', 'bad..bad', 'c..d']) await home.write(key, key, { expectedVersion: 0 })
    put('mine', 'mine')
    const said = await refusing(name, /bad$/, code, () => sync())
    expect(said.stdout).toContain(`left alone bad/bad: ${why}\n`)
    expect(said.code).toBe(exit)
    expect(files()).toEqual({ a: 'a', 'c/d': 'c..d', mine: 'mine' })
    expect(Object.keys(await memories())).toContain('mine')
    expect((await sync()).stdout).toBe('received bad/bad\n1 received.\n')
  })

  test('a file that grows too large is not taken for a removed one', async () => {
    const { sync, put, memories, files } = await synced(opened)
    put('a', 'a')
    await sync()
    put('a', TOO_MUCH)
    await sync()
    expect(await memories()).toEqual({ a: 'a' })
    put('a', 'small again')
    await sync()
    expect(await memories()).toEqual(files())
  })

  test('a directory that became a link is not taken for an empty one', async () => {
    const { sync, put, memories, directory } = await synced(opened)
    put('d/a', 'a')
    await sync()
    const moved = `${directory}-moved`
    renameSync(join(directory, 'd'), moved)
    symlinkSync(moved, join(directory, 'd'))
    await sync()
    expect(await memories()).toEqual({ 'd..a': 'a' })
    rmSync(moved, { recursive: true })
  })

  test.runIf(process.platform === 'linux')(
    'a name that is not UTF-8 is named, and stays here',
    async () => {
      const { sync, directory, memories } = await synced(opened)
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/caf`), Uint8Array.of(0xe9)]), 'x')
      expect((await sync()).stdout).toContain('left alone caf\ufffd: its name is not UTF-8\n')
      expect(await memories()).toEqual({})
    },
  )

  test('protected memories, with the home’s words', async () => {
    const { operator, sync, put, memories } = await synced(opened)
    put('rules', 'one')
    put('other', 'one')
    await sync()
    await operator.protect('rules')
    put('rules', 'two')
    put('other', 'two')
    const { code, stdout } = await sync()
    expect(code).toBe(0)
    expect(stdout).toContain('left alone rules: Nothing was changed: the operator has protected')
    expect(await memories()).toEqual({ rules: 'one', other: 'two' })
  })

  test('the mode of a file stays as it is', async () => {
    const { home, sync, put, directory } = await synced(opened)
    put('a', 'a')
    await sync()
    chmodSync(join(directory, 'a'), 0o754)
    await home.write('a', 'b', { expectedVersion: 1 })
    await sync()
    expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o754)
  })
})

describe('what stops it', () => {
  const many = Array.from({ length: 12 }, (_, n) => `f${n}`)

  test('a directory that is suddenly empty deletes nothing without a word', async () => {
    const { sync, put, memories } = await synced(opened)
    for (const path of many) put(path, path)
    await sync()
    for (const path of many) put(path, undefined)
    const { code, stderr } = await sync()
    expect(code).toBe(1)
    expect(stderr).toMatch(/^12 of 12 files are gone from .* Nothing was done\. .* --delete\.\n$/)
    expect(Object.keys(await memories())).toHaveLength(12)
    expect((await sync('--delete')).code).toBe(0)
    expect(await memories()).toEqual({})
  })

  test('nor does a home that is suddenly empty', async () => {
    const { home, sync, put, files } = await synced(opened)
    for (const path of many) put(path, path)
    await sync()
    for (const key of many) await home.delete(key, { expectedVersion: 1 })
    const { code, stderr } = await sync()
    expect(code).toBe(1)
    expect(stderr).toContain('12 of 12 memories are gone from the home. Nothing was done.')
    expect(Object.keys(files())).toHaveLength(12)
    await sync('--delete')
    expect(files()).toEqual({})
  })

  test('another home, and another prefix', async () => {
    const { sync, put, directory } = await synced(opened)
    const stranger = await synced(opened)
    put('a', 'a')
    await sync()
    const wrong = await speak([
      ...['sync', directory, '--url', opened.url, '--token', stranger.token],
    ])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('This directory is synced with the home of agent')
    const elsewhere = await sync('--prefix', 'x.')
    expect(elsewhere.code).toBe(2)
    expect(elsewhere.stderr).toContain('is synced with the prefix “”, not “x.”')
  })

  test('a prefix that begins no key that a file could have', async () => {
    const { sync, directory } = await synced(opened)
    const told = [await sync('--prefix', 'p'.repeat(91)), await sync('--prefix', 'no key')]
    for (const { code, stderr } of told) {
      expect([code, stderr]).toEqual([2, '--prefix must be the beginning of a memory key.\n'])
    }
    expect(readdirSync(directory)).toEqual([])
    expect((await sync('--prefix', 'p'.repeat(90))).code).toBe(0)
  })

  test.each([
    ['a link', (own: string) => symlinkSync(freshFolder(), own)],
    ['a link to nothing', (own: string) => symlinkSync('nothing', own)],
    ['a file', (own: string) => writeFileSync(own, 'a file')],
  ])('%s in the place of what is ours, in a sentence', async (_, place) => {
    const { sync, directory } = await synced(opened)
    const own = join(directory, '.agent-home')
    place(own)
    const { code, stderr } = await sync()
    expect([code, stderr]).toEqual([1, `${own} is not a directory.\n`])
  })

  test('a paused agent, with the code of a refusal', async () => {
    const { operator, sync, put, files } = await synced(opened)
    put('a', 'a')
    await operator.pause()
    const { code, stderr } = await sync()
    expect(code).toBe(5)
    expect(stderr).toContain('agent_paused')
    expect(files()).toEqual({ a: 'a' })
  })

  test('a home without room: what fits is sent, the rest is named, the code is 1', async () => {
    const small = await openHome({ MEMORIES_PER_AGENT: '5' })
    const { sync, put, memories } = await synced(small)
    for (const path of many) put(path, path)
    const { code, stdout } = await sync()
    expect(code).toBe(1)
    expect(stdout.match(/^sent /gm)).toHaveLength(5)
    expect(stdout.match(/^left alone f\d+: /gm)).toHaveLength(7)
    expect(Object.keys(await memories())).toHaveLength(5)
    await small.close()
  })

  test('a home with another history than the one that was seen, and one at earlier versions', async () => {
    const { home, sync, put, directory, memories } = await synced(opened)
    put('a', 'a')
    await sync()
    const file = join(directory, '.agent-home/state.db')
    const state = openFolderState(file)
    const head = state.note('head') ?? ''
    // What was sent is seen, too.
    const { id, hash } = (await home.head()).head
    expect(JSON.parse(head)).toEqual({ id, hash })
    state.setNote('head', JSON.stringify({ ...JSON.parse(head), hash: '00'.repeat(32) }))
    state.close()
    put('a', 'b')
    const changed = await sync()
    expect(changed.code).toBe(3)
    expect(changed.stderr).toContain('its history was changed')
    expect(changed.stderr).toContain('remove .agent-home from the directory and sync again')

    const earlier = openFolderState(file)
    earlier.setNote('head', head)
    earlier.record(earlier.load().map((each) => ({ ...each, version: 7 })))
    earlier.close()
    const turned = await sync()
    expect(turned.code).toBe(3)
    expect(turned.stderr).toContain('The home is at earlier versions than it was')
    expect(await memories()).toEqual({ a: 'a' })

    rmSync(join(directory, '.agent-home'), { recursive: true })
    expect((await sync()).stdout).toContain('conflict a: ')
  })

  test('a second sync of the directory waits for the first, ten seconds at most', async () => {
    const { sync, put, directory, token, memories } = await synced(opened)
    await sync()
    put('a', 'a')
    const given = {
      args: [directory],
      options: { url: opened.url, token },
      flags: new Set<string>(),
      notice: () => {},
      confirm: async () => {},
    }
    const waiting = (pause: Timers['pause']) =>
      syncCommand(given, terminalOf()().terminal, { ...processTimers, pause })
    const first = openFolderState(join(directory, '.agent-home/state.db'))
    const pauses: number[] = []
    await expect(waiting(async (ms) => void pauses.push(ms))).rejects.toThrow(
      `Another agent-home sync is running in ${directory}. This one did nothing: the next sync detects what has changed.`,
    )
    expect(pauses).toEqual(Array(99).fill(100))
    expect(await memories()).toEqual({})
    await waiting(async () => first.close())
    expect(await memories()).toEqual({ a: 'a' })
  })

  test('state that is none says how to go on', async () => {
    const { sync, put, directory } = await synced(opened)
    put('a', 'a')
    mkdirSync(join(directory, '.agent-home'))
    writeFileSync(join(directory, '.agent-home/state.db'), 'no database, but long enough for one')
    const { code, stderr } = await sync()
    expect(code).toBe(1)
    expect(stderr).toContain('cannot be read')
    expect(stderr).toContain('Remove it and sync again')
  })
})

test('what a list leaves out, as of a memory that is renamed meanwhile, is asked for', async () => {
  const { home, sync, put, directory, token, files } = await synced(opened)
  put('a', 'a')
  put('b', 'b')
  await sync()
  await home.delete('b', { expectedVersion: 1 })
  const forgetful: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    if (!String(args[0]).includes('/memories?')) return response
    return Response.json({ memories: [], next: null })
  }
  const { rounds, told, close } = roundsOf({ directory, token }, forgetful)
  expect((await rounds.round()).again).toBe(true)
  expect((await rounds.round()).again).toBe(false)
  close()
  expect(told).toEqual(['removed b'])
  expect(files()).toEqual({ a: 'a' })
})

test('what is told while others are read is read in the next round', async () => {
  const { home, directory, token, files } = await synced(opened)
  for (const key of ['a', 'b']) await home.write(key, key, { expectedVersion: 0 })
  const telling: typeof fetch = async (...args) => {
    if (String(args[0]).includes('memory?key=a')) {
      await home.write('b', 'changed', { expectedVersion: 1 })
      rounds.changedAtHome({ key: 'b', version: 2 })
    }
    return fetch(...args)
  }
  const { rounds, close } = roundsOf({ directory, token }, telling)
  await rounds.round()
  rounds.changedAtHome({ key: 'a' })
  await rounds.round()
  await rounds.round()
  close()
  expect(files()).toEqual({ a: 'a', b: 'changed' })
})

describe('what is not sent in one try', () => {
  test('is merged again, with what the home has by then', async () => {
    const { home, sync, put, directory, token, files, memories } = await synced(opened)
    put('list', 'one\ntwo\nthree\nfour\n')
    await sync()
    put('list', 'ONE\ntwo\nthree\nfour\n')
    await home.write('list', 'one\ntwo\nthree\nFOUR\n', { expectedVersion: 1 })
    const { rounds, close } = roundsOf({ directory, token }, failing(/batch/))
    await expect(rounds.round()).rejects.toMatchObject({ code: 'no_answer' })
    close()
    await sync()
    expect(files()).toEqual({ list: 'ONE\ntwo\nthree\nFOUR\n' })
    expect(await memories()).toEqual(files())
  })

  test('a merge that was sent, and did not come back by then, is received by the next sync', async () => {
    const { home, sync, put, directory, token, files, memories } = await synced(opened)
    put('list', 'one\ntwo\nthree\nfour\n')
    await sync()
    put('list', 'ONE\ntwo\nthree\nfour\n')
    await home.write('list', 'one\ntwo\nthree\nFOUR\n', { expectedVersion: 1 })
    const { rounds, told, close } = roundsOf({ directory, token }, fetch)
    await rounds.round()
    close()
    expect([told, files()]).toEqual([['merged list'], { list: 'ONE\ntwo\nthree\nfour\n' }])
    await sync()
    expect(files()).toEqual({ list: 'ONE\ntwo\nthree\nFOUR\n' })
    expect(await memories()).toEqual(files())
  })

  test('and is read again, after a look that failed', async () => {
    const { home, put, directory, token, files } = await synced(opened)
    put('a', 'a')
    const { rounds, close } = roundsOf({ directory, token }, failing(/memory\?/))
    await rounds.round()
    await home.write('a', 'changed', { expectedVersion: 1 })
    rounds.changedAtHome({ key: 'a', version: 2 })
    await expect(rounds.round()).rejects.toMatchObject({ code: 'no_answer' })
    await rounds.round()
    close()
    expect(files()).toEqual({ a: 'changed' })
    expect(rounds.changedAtHome({ key: 'a', version: 2 })).toBe(false)
  })

  test('is no conflict when it was sent, nobody heard of it, and the file was changed since', async () => {
    const { sync, put, directory, token, files, memories } = await synced(opened)
    put('a', 'one')
    await sync()
    put('a', 'two')
    const losing: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      if (String(args[0]).endsWith('/batch')) throw new TypeError('terminated')
      return response
    }
    const { rounds, close } = roundsOf({ directory, token }, losing)
    await rounds.round()
    close()
    put('a', 'three')
    expect((await sync()).stdout).toBe('sent a\n1 sent.\n')
    expect(await memories()).toEqual({ a: 'three' })
    expect(files()).toEqual({ a: 'three' })
  })

  test('is looked at again when the answer is lost, and not sent again', async () => {
    const { put, directory, token, memories } = await synced(opened)
    put('a', 'a')
    let batches = 0
    const losing: typeof fetch = async (...args) => {
      const response = await fetch(...args)
      if (!String(args[0]).endsWith('/batch') || batches++ > 0) return response
      throw new TypeError('terminated')
    }
    const { rounds, told, close } = roundsOf({ directory, token }, losing)
    expect((await rounds.round()).again).toBe(true)
    expect(await rounds.round()).toMatchObject({ again: false, open: [] })
    close()
    expect([batches, told]).toEqual([1, []])
    expect(await memories()).toEqual({ a: 'a' })
  })
})

test('more than a transaction and more than a few requests hold are received in one sync', async () => {
  const { home, sync, put, files } = await synced(opened)
  put('mine', 'mine')
  await sync()
  const names = Array.from({ length: 201 }, (_, n) => `f${n}`)
  for (let at = 0; at < names.length; at += 100) {
    const some = names.slice(at, at + 100)
    await home.batch(some.map((key) => ({ write: { key, text: key, expectedVersion: 0 } })))
  }
  expect((await sync()).stdout).toContain('\n201 received.\n')
  expect(Object.keys(files())).toHaveLength(202)
})

test('on a terminal it says how far it is, and takes that away again', async () => {
  const { directory, token, put } = await synced(opened)
  for (let n = 0; n < 101; n++) put(`f${n}`, `${n}`)
  const words = ['sync', directory, '--url', opened.url, '--token', token]
  const { stderr } = await speak(words, undefined, terminalOf({ isWatched: true }))
  expect(stderr).toContain('\r  100 of 101')
  expect(stderr.split('\r\u001b[K').at(-1)).toBe('')
})

test('a signal ends a watch once what is under way is done, without a word', async () => {
  const { directory, token, put } = await synced(opened)
  put('a', 'a')
  const isSent = Promise.withResolvers<void>()
  const forgotten: boolean[] = []
  const stopping = Promise.withResolvers<() => unknown>()
  const said = terminalOf({
    say: () => isSent.resolve(),
    whenStopped(undo) {
      stopping.resolve(undo)
      return () => void forgotten.push(true)
    },
  })
  const words = ['sync', directory, '--watch', '--url', opened.url, '--token', token]
  const spoken = speak(words, undefined, said)
  await isSent.promise
  const stopped = Promise.resolve((await stopping.promise)()).then(() => true)
  expect(await spoken).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await Promise.race([stopped, setImmediate(false)])).toBe(true)
  expect(forgotten).toEqual([true])
})

test('what a killed sync left unfinished is removed by the next', async () => {
  const { sync, directory } = await synced(opened)
  await sync()
  const own = join(directory, '.agent-home')
  writeFileSync(join(own, '0123456789abcdef.part'), 'half of a te')
  await sync()
  expect(readdirSync(own).toSorted()).toEqual(['held', 'state.db'])
})

test('a home that has no room for a first batch is still sent the deletes of the second', async () => {
  const { sync, put, directory, token, memories } = await synced(opened)
  put('old', 'old')
  await sync()
  put('old', undefined)
  for (let n = 0; n < 101; n++) put(`f${n}`, `${n}`)
  const batches: string[][] = []
  const full: typeof fetch = async (...args) => {
    if (!String(args[0]).endsWith('/batch')) return fetch(...args)
    const { operations } = JSON.parse(String(args[1]?.body)) as { operations: object[] }
    batches.push(operations.flatMap((each) => Object.keys(each)))
    if (batches.length > 1) return fetch(...args)
    const reason = { code: 'memory_quota_reached', detail: 'No room.' }
    const conflicts = operations.map((_, operation) => ({ operation, ...reason }))
    const body = { status: 409, code: 'batch_conflict', detail: 'Nothing was done.', conflicts }
    return Response.json(body, { status: 409 })
  }
  const { rounds, told, close } = roundsOf({ directory, token }, full)
  const { open, lacksRoom } = await rounds.round()
  close()
  expect(batches).toEqual([Array(100).fill('write'), ['delete']])
  expect([open.length, lacksRoom, told]).toEqual([101, true, ['deleted old']])
  expect(new Set(open.map(({ why }) => why))).toEqual(new Set(['No room.']))
  expect(await memories()).toEqual({})
})

test('what is recorded as done is on the disk by then, its name and its directories too', async () => {
  const { home, directory, token } = await synced(opened)
  await home.write('d..a', 'a', { expectedVersion: 0 })
  const steps: string[] = []
  const { rounds, close } = roundsOf({ directory, token }, fetch, () => steps.push('record'))
  const inodes: Record<string, string> = {}
  const watched = { writeSync: 'write', linkSync: 'link', fsyncSync: 'sync' } as const
  const end = watching(watched, (step, [first]) => {
    steps.push(step === 'sync' ? `sync ${fs.fstatSync(Number(first)).ino}` : step)
  })
  try {
    await rounds.round()
  } finally {
    end()
    close()
  }
  for (const name of ['.', 'd', 'd/a']) inodes[statSync(join(directory, name)).ino] = name
  const named = steps.map((step) => step.replace(/\d+$/, (ino) => inodes[ino] ?? ino))
  expect(named).toEqual(['record', 'write', 'sync d/a', 'link', 'sync .', 'sync d', 'record'])
})

test('what is recorded as removed is gone from the disk by then', async () => {
  const { home, sync, put, directory, token } = await synced(opened)
  for (const path of ['d/a', 'd/b']) put(path, path)
  await sync()
  await home.delete('d..a', { expectedVersion: 1 })
  const steps: string[] = []
  const { rounds, close } = roundsOf({ directory, token }, fetch, () => steps.push('record'))
  const { ino } = statSync(join(directory, 'd'))
  const end = watching({ fsyncSync: 'sync' }, (_, [fd]) => {
    if (fs.fstatSync(Number(fd)).ino === ino) steps.push('sync d')
  })
  try {
    await rounds.round()
  } finally {
    end()
    close()
  }
  expect(steps).toEqual(['sync d', 'record'])
})

describe('a token with fewer rights', () => {
  test('a named key with a prefix keeps what it reaches', async () => {
    const { home, operator, beside, memories } = await synced(opened)
    await home.write('secret', 's', { expectedVersion: 0 })
    await home.write('notes.a', 'a', { expectedVersion: 0 })
    const key = await operator.createKey({ name: 'n', access: 'write', prefix: 'notes.' })
    const limited = beside(key.token)
    limited.put('b', 'b')
    expect((await limited.sync()).stdout).toBe('received a\nsent b\n1 received, 1 sent.\n')
    expect(limited.files()).toEqual({ a: 'a', b: 'b' })
    expect(await memories()).toEqual({ secret: 's', 'notes.a': 'a', 'notes.b': 'b' })
  })

  test('a directory of a home, with names that no key can say', async () => {
    const { home, operator, beside } = await synced(opened)
    await home.write('notes..a', 'a', { expectedVersion: 0 })
    await home.write('notesx', 'x', { expectedVersion: 0 })
    const key = await operator.createKey({ name: 'n', access: 'write', prefix: 'notes.' })
    const [one, other] = [beside(key.token), beside(key.token)]
    one.put('c d', 'with a space')
    expect((await one.sync('--prefix', 'notes..')).code).toBe(0)
    await other.sync('--prefix', 'notes..')
    expect(other.files()).toEqual({ a: 'a', 'c d': 'with a space' })
    const narrow = await operator.createKey({ name: 'd', access: 'write', prefix: 'notes..' })
    const third = beside(narrow.token)
    const beyond = { 'e f': 'out of reach', 'g h': 'out of reach' }
    for (const [path, text] of Object.entries(beyond)) third.put(path, text)
    for (const path of ['b', 'z']) third.put(path, 'in reach')
    const { code, stdout } = await third.sync()
    expect(code).toBe(0)
    for (const path of Object.keys(beyond)) {
      expect(stdout).toContain(`left alone ${path}: This named key grants access only`)
    }
    expect(stdout).toContain('\n1 received, 2 sent, 2 left alone.\n')
    expect(third.files()).toEqual({ a: 'a', b: 'in reach', z: 'in reach', ...beyond })
  })

  test('--read-only sends nothing, and a key that only reads says so', async () => {
    const { home, operator, beside, memories } = await synced(opened)
    await home.write('a', 'a', { expectedVersion: 0 })
    const key = await operator.createKey({ name: 'r', access: 'read' })
    const reader = beside(key.token)
    reader.put('b', 'b')
    const refused = await reader.sync()
    expect(refused.code).toBe(5)
    expect(refused.stderr).toContain('key_read_only')
    const { code, stdout } = await reader.sync('--read-only')
    expect(code).toBe(0)
    expect(stdout).toContain('left alone b: changed here, and nothing is sent: --read-only')
    reader.put('a', undefined)
    await reader.sync('--read-only')
    expect(reader.files()).toEqual({ b: 'b' })
    await home.write('a', 'a, changed', { expectedVersion: 1 })
    await reader.sync('--read-only')
    expect(reader.files()).toEqual({ a: 'a, changed', b: 'b' })
    expect(await memories()).toEqual({ a: 'a, changed' })
  })
})

test('--json tells all of it', async () => {
  const { home, sync, put } = await synced(opened)
  put('a', 'mine')
  put('b', 'b')
  put('large', TOO_MUCH)
  await home.write('a', 'theirs', { expectedVersion: 0 })
  const { code, stdout } = await sync('--json')
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toEqual({
    received: [],
    sent: [{ path: 'b', key: 'b' }],
    merged: [],
    removed: [],
    deleted: [],
    renamed: [],
    rescued: [],
    conflicts: [{ path: 'a', key: 'a', beside: 'a.theirs' }],
    left: [
      {
        path: 'large',
        key: 'large',
        why: '524289 bytes are more than a file may have (524288)',
      },
    ],
  })
})
