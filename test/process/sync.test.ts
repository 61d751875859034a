/** `agent-home sync` as a process: killed, on a full disk, and watching. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesIn, synced, textsIn, wholeTextsIn } from '../cli/sync.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { timesPromised } from '../effort.ts'
import { embedded } from '../harness.ts'
import { birth } from './calls.ts'
import { fill, lackingMounts, mountSmall, skipping, unmountAll } from './full-disk.ts'
import { openNode } from './nodes.ts'
import { cleanUp, freshDirectory, launch, type Program } from './program.ts'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(async () => {
  unmountAll()
  await cleanUp()
  await opened.close()
})

interface Kept {
  readonly directory: string
  readonly home: AgentHome
  readonly start: (...args: string[]) => Program
  readonly put: (path: string, text: string) => void
}

async function keep(directory = join(freshDirectory(), 'notes')): Promise<Kept> {
  const { home, token } = await opened.born()
  mkdirSync(directory, { recursive: true })
  const env = { AGENT_HOME_URL: opened.url, AGENT_HOME_TOKEN: token }
  return {
    directory,
    home,
    start: (...args) =>
      launch({ directory: freshDirectory(), env, args: ['sync', directory, ...args] }),
    put(path, text) {
      mkdirSync(join(directory, path, '..'), { recursive: true })
      // Whole at once, as careful programs do.
      writeFileSync(join(directory, '..', 'part'), text)
      renameSync(join(directory, '..', 'part'), join(directory, path))
    },
  }
}

const same = async ({ home, directory }: Kept): Promise<boolean> => {
  const [files, memories] = [filesIn(directory), await wholeTextsIn(home)]
  const named = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.replaceAll('/', '..'), text]),
  )
  return (
    JSON.stringify(Object.entries(named).toSorted()) ===
    JSON.stringify(Object.entries(memories).toSorted())
  )
}

test('a pipe in the place of a file is not taken for a removed one', async () => {
  const { sync, put, memories, directory } = await synced(opened)
  put('a', 'a')
  await sync()
  put('a', undefined)
  execFileSync('mkfifo', [join(directory, 'a')])
  expect((await sync()).stdout).toContain('left alone a: it is not a file\n')
  expect(await memories()).toEqual({ a: 'a' })
})

test('killed at any moment, under changes on both sides, it loses nothing', async () => {
  const kept = await keep()
  const { home, directory, start } = kept
  const FILES = 90
  const written = new Set<string>()
  let count = 0
  const word = (): string => {
    const made = `w${count++}.`
    written.add(made)
    return made
  }
  const lineOf = (side: string) => `${side} ${word()}\n`
  const names = Array.from({ length: FILES }, (_, n) => n)
  const changeHere = (n: number) => appendFileSync(join(directory, `d/f${n}`), lineOf('here'))
  const changeThere = (some: readonly number[]) =>
    home.batch(some.map((n) => ({ append: { key: `g${n}`, text: lineOf('there') } })))
  mkdirSync(join(directory, 'd'))
  for (const n of names) changeHere(n)
  // Some are in pieces, of which each change is of the first and the last.
  for (const n of names.filter((each) => each % 9 === 0)) {
    appendFileSync(join(directory, `d/f${n}`), 'of a large file\n'.repeat(2_500))
  }
  await changeThere(names)
  let reached = 0
  for (let killed = 0; killed < timesPromised(24); killed++) {
    const program = start()
    // Each time after another of its lines, while both sides go on.
    const said = new RegExp(`(?:[^\\n]*\\n){${1 + ((killed * 17) % (FILES + 20))}}`)
    const isThere = program.says(said).then(
      () => true,
      () => false,
    )
    const some = names.filter((n) => (n * 7 + killed) % 3 === 0)
    for (const n of some) changeHere(n)
    await changeThere(some)
    if (await isThere) reached++
    await program.kill('SIGKILL')
    for (const n of names) if (n % 2 === killed % 2) changeHere(n)
    await changeThere(names.filter((n) => n % 2 === killed % 2))
  }
  expect(reached).toBeGreaterThan(0)
  for (let rounds = 0; rounds < 3; rounds++) await start().ended
  const versions = await wordsEver(home)
  const here = Object.values(filesIn(directory)).join('\n')
  const lost = [...written].filter((each) => !versions.has(each) && !here.includes(each))
  expect(lost).toEqual([])
  expect(await same(kept)).toBe(true)
})

test('eight sessions that begin and end at once sync one directory, each in its turn', async () => {
  const kept = await keep()
  const { home, start, put } = kept
  const texts = Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [`session${n}`, `${n}\n`.repeat(n % 2 ? 1 : 10_000)]),
  )
  const ended = Object.entries(texts).map(([path, text]) => {
    put(path, text)
    return start().ended
  })
  // On a busy machine the last may have waited too long.
  for (const { code, output } of await Promise.all(ended)) {
    if (code !== 0) expect(output).toMatch(/^Another agent-home sync is running in .*\n$/)
    expect(output).not.toContain('conflict')
  }
  expect((await start().ended).code).toBe(0)
  expect(await wholeTextsIn(home)).toEqual(texts)
  const versions = (await Array.fromAsync(home.list())).map(({ version }) => version)
  expect(new Set(versions)).toEqual(new Set([1]))
  expect(await same(kept)).toBe(true)
})

async function wordsEver(home: AgentHome): Promise<Set<string>> {
  const file = await new Response(await home.export({ history: true })).text()
  return new Set(file.match(/w\d+\./g) ?? [])
}

describe('watching', () => {
  test('changes go to the other side as they happen, and a signal ends it', async () => {
    const kept = await keep()
    const { home, directory, start, put } = kept
    put('a', 'a\n')
    const program = start('--watch')
    await program.says(/sent a\n/)
    await home.write('d..b', 'b\n', { expectedVersion: 0 })
    await program.says(/received d\/b\n/)
    put('d/c', 'c\n')
    await program.says(/sent d\/c\n/)
    rmSync(join(directory, 'a'))
    await program.says(/deleted a\n/)
    renameSync(join(directory, 'd/c'), join(directory, 'd/e'))
    await program.says(/renamed d\/c to d\/e\n/)
    await home.delete('d..b', { expectedVersion: 1 })
    await program.says(/removed d\/b\n/)
    put('d/e', 'mine\n')
    await program.says(/sent d\/e\n/)
    expect(await same(kept)).toBe(true)
    put('odd', 'no text\0')
    await program.says(/left alone odd: /)
    put('odd', 'text\n')
    await program.says(/sent odd\n/)
    put('odd', 'no text\0')
    await program.says(/sent odd\n.*left alone odd: /s)
    const { signal } = await program.kill('SIGTERM')
    expect(signal).toBe('SIGTERM')
    expect(existsSync(join(directory, '.agent-home/state.db-journal'))).toBe(false)
  })

  test('a large file, and what is ignored from now on', async () => {
    const kept = await keep()
    const { home, start, put } = kept
    const large = 'a line\n'.repeat(10_000)
    put('a', large)
    const program = start('--watch')
    await program.says(/sent a\n/)
    await home.append('a.2', 'of an agent\n')
    await program.says(/received a\n/)
    put('b.log', 'b\n')
    await program.says(/sent b.log\n/)
    put('.agent-home/ignore', '*.log\n')
    put('c.log', 'c\n')
    put('d', 'd\n')
    await program.says(/sent d\n/)
    put('.agent-home/ignore', '')
    await program.says(/sent c.log\n/)
    expect(await same(kept)).toBe(true)
    await program.kill('SIGTERM')
  })

  test('a conflict is told once, and ends when what is beside the file is removed', async () => {
    const { home, directory, start, put } = await keep()
    put('p', 'mine\n')
    await home.write('p', 'theirs\n', { expectedVersion: 0 })
    const program = start('--watch', '--json')
    await program.says(/"did":"conflict","path":"p","key":"p","beside":"p.theirs"/)
    put('p', 'both\n')
    rmSync(join(directory, 'p.theirs'))
    await program.says(/"did":"sent","path":"p"/)
    const { output } = await program.kill('SIGINT')
    expect(output.match(/conflict/g)).toHaveLength(1)
    expect(await textsIn(home)).toEqual({ p: 'both\n' })
  })

  test('a home that is away is waited for, and what happened meanwhile is made up for', async () => {
    const database = await embedded.fresh()
    const first = await openNode(database)
    const { port } = new URL(first.url)
    const { token } = await birth(first.url)
    const directory = join(freshDirectory(), 'notes')
    mkdirSync(directory)
    writeFileSync(join(directory, 'a'), 'a\n')
    const env = { AGENT_HOME_URL: first.url, AGENT_HOME_TOKEN: token }
    const args = ['sync', directory, '--watch']
    const program = launch({ directory: freshDirectory(), env, args })
    await program.says(/sent a\n/)
    await first.stop()
    writeFileSync(join(directory, 'b'), 'b\n')
    await program.says(/Retrying\.\n/)
    const second = await openNode(database, {}, Number(port))
    await program.says(/The home answers again\.\n/)
    const home = new AgentHome({ url: second.url, token })
    expect(await textsIn(home)).toEqual({ a: 'a\n', b: 'b\n' })
    await home.write('c', 'c\n', { expectedVersion: 0 })
    await program.says(/received c\n/)
    const { output } = await program.kill('SIGTERM')
    expect(output.match(/answers again/g)).toHaveLength(1)
    await second.stop()
    await database.drop()
  })
})

describe.skipIf(skipping('a full directory', lackingMounts()))('with no room', () => {
  test('nothing is lost, the sentence says why, and the next sync goes on', async () => {
    const directory = mountSmall(8 * 1_048_576)
    const kept = await keep(directory)
    const { home, start } = kept
    const text = 'x'.repeat(16_000)
    writeFileSync(join(directory, 'mine'), 'mine\n')
    expect((await start().ended).code).toBe(0)
    const names = Array.from({ length: 50 }, (_, n) => `f${n}`)
    await home.batch(names.map((key) => ({ write: { key, text, expectedVersion: 0 } })))
    await home.write('mine', 'theirs\n', { expectedVersion: 1 })
    const filler = join(directory, '.filler')
    fill(filler)
    const full = await start().ended
    expect(full.code).toBe(1)
    expect(full.output).toMatch(/ENOSPC|is full/)
    truncateSync(filler, statSync(filler).size - 200_000)
    expect((await start().ended).code).toBe(1)
    for (const [path, each] of Object.entries(filesIn(directory))) {
      if (path.startsWith('f')) expect(each === text).toBe(true)
      if (path === 'mine') expect(each).toMatch(/^(mine|theirs)\n$/)
    }
    rmSync(filler)
    expect((await start().ended).code).toBe(0)
    expect(await same(kept)).toBe(true)
    expect(await textsIn(home)).toMatchObject({ mine: 'theirs\n', f49: text })
  })
})
