/** One process for each database, whatever name it is opened by. */
import { linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, launch, serve } from './program.ts'

afterEach(cleanUp)

const databaseAt = (directory: string): string => join(directory, 'data', 'home.db')

test.each([
  ['a symlink beside it', (directory: string) => join(directory, 'data', 'other.db')],
  ['a symlink elsewhere', () => join(freshDirectory(), 'other.db')],
])('a second process that opens the database by %s is refused', async (_, nameIn) => {
  const directory = freshDirectory()
  const first = await serve({ directory })
  const link = nameIn(directory)
  symlinkSync(databaseAt(directory), link)
  const env = { DATABASE_URL: `sqlite:${link}` }
  const { code, output } = await launch({ directory, env }).ended
  expect(code).toBe(1)
  expect(output).toMatch(/data\/home\.db is in use by process (\d+)/)
  expect(output).toContain(`process ${first.pid}`)
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
})

test('a second process that comes through a linked directory is refused', async () => {
  const directory = freshDirectory()
  await serve({ directory })
  const link = join(freshDirectory(), 'linked')
  symlinkSync(join(directory, 'data'), link)
  const env = { DATABASE_URL: `sqlite:${join(link, 'home.db')}` }
  const { code, output } = await launch({ directory, env }).ended
  expect(code).toBe(1)
  expect(output).toContain('data/home.db is in use by process')
})

test('a symlink to a file that is not there yet leads to the same database as the file', async () => {
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

test('a database with two names is refused until one of them is gone', async () => {
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
