/** One process for each database, whatever name it is opened by, and its files for nobody else. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from '../process/calls.ts'
import { cleanUp, freshDirectory, launch, type Server, serve } from '../process/program.ts'

afterAll(cleanUp)

const databaseAt = (directory: string): string => join(directory, 'data', 'home.db')

/** A service whose database others try to open. */
const directory = freshDirectory()
let first: Server
beforeAll(async () => {
  first = await serve({ directory })
})

test.concurrent.each([
  ['a symlink beside it', () => join(directory, 'data', 'other.db')],
  ['a symlink elsewhere', () => join(freshDirectory(), 'other.db')],
])('a second process that opens the database by %s is refused', async (_, nameIn) => {
  const link = nameIn()
  symlinkSync(databaseAt(directory), link)
  const env = { DATABASE_URL: `sqlite:${link}` }
  const { code, output } = await launch({ directory, env }).ended
  expect(code).toBe(1)
  expect(output).toMatch(/data\/home\.db is in use by process (\d+)/)
  expect(output).toContain(`process ${first.pid}`)
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
})

test.concurrent('a second process that comes through a linked directory is refused', async () => {
  const link = join(freshDirectory(), 'linked')
  symlinkSync(join(directory, 'data'), link)
  const env = { DATABASE_URL: `sqlite:${join(link, 'home.db')}` }
  const { code, output } = await launch({ directory, env }).ended
  expect(code).toBe(1)
  expect(output).toContain('data/home.db is in use by process')
})

test.concurrent('a symlink to a file that is not there yet leads to the same database as the file', async () => {
  const directory = freshDirectory()
  mkdirSync(join(directory, 'data'))
  const link = join(directory, 'link.db')
  symlinkSync(databaseAt(directory), link)
  const byLink = await serve({ directory, env: { DATABASE_URL: `sqlite:${link}` } })
  const { token } = await birth(byLink.url)
  await writeMemory(byLink.url, token, { key: 'plan', text: 'Step 1', expectedVersion: 0 })
  expect((await launch({ directory }).ended).output).toContain(`in use by process ${byLink.pid}`)
  await byLink.kill('SIGKILL')
  const byName = await serve({ directory })
  expect((await readMemory(byName.url, token, 'plan')).memory.text).toBe('Step 1')
})

test.concurrent('a database with two names is refused until one of them is gone', async () => {
  const directory = freshDirectory()
  await (await serve({ directory })).kill('SIGTERM')
  const other = join(directory, 'other.db')
  linkSync(databaseAt(directory), other)
  for (const name of [databaseAt(directory), other]) {
    const { code, output } = await launch({ directory, env: { DATABASE_URL: `sqlite:${name}` } })
      .ended
    expect(code).toBe(1)
    expect(output).toContain(`${name} has another name as well (a hard link)`)
    expect(output.trimEnd().split('\n')).toHaveLength(1)
  }
  rmSync(other)
  expect((await fetch(`${(await serve({ directory })).url}/readyz`)).status).toBe(200)
})

/** As most shells have it: what a process makes, everybody may read. */
const under = ['sh', '-c', 'umask 022; exec "$0" "$@"']

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const modesIn = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory)
      .toSorted()
      .map((name) => [name, modeOf(join(directory, name))]),
  )

const ALL_PRIVATE = {
  'home.db': '600',
  'home.db.control': '600',
  'home.db-shm': '600',
  'home.db-wal': '600',
  'home.db.lock': '600',
  'home.db.lock-journal': '600',
  'home.db.owner': '600',
}

test.concurrent('the files are the owner’s alone, in a directory that was there and open too', async () => {
  const directory = freshDirectory()
  const data = join(directory, 'data')
  mkdirSync(data)
  chmodSync(data, 0o755)
  const server = await serve({ directory, under })
  await birth(server.url)
  expect(modesIn(data)).toEqual(ALL_PRIVATE)
  expect(modeOf(data)).toBe('755')
  expect((await server.kill('SIGTERM')).output).not.toContain('"level":40')
})

test.concurrent('files of the database that were open to others are closed at the start', async () => {
  const directory = freshDirectory()
  const data = join(directory, 'data')
  const first = await serve({ directory, under })
  await birth(first.url)
  await first.kill('SIGKILL')
  writeFileSync(join(data, 'notes.txt'), 'no file of ours', { mode: 0o644 })
  const names = readdirSync(data)
  for (const name of names) chmodSync(join(data, name), 0o644)
  expect(names).toEqual(expect.arrayContaining(Object.keys(ALL_PRIVATE)))
  await serve({ directory, under })
  expect(modesIn(data)).toEqual({ ...ALL_PRIVATE, 'notes.txt': '644' })
})

test.concurrent('a directory in which others may write is warned of', async () => {
  const directory = freshDirectory()
  const data = join(directory, 'data')
  mkdirSync(data)
  chmodSync(data, 0o777)
  const server = await serve({ directory, under })
  await server.says(/"level":40.*Others may write in [^"]*\/data/)
})
