/** `agent-home doctor`: what is wrong is said, with what to do; what is right is not blamed. */
import { chmodSync, cpSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../src/store/port/check.ts'
import { dropDatabases, freshDatabase } from './nodes.ts'
import { cleanUp, freshDirectory, type Launch, serve } from './program.ts'
import { speakAt } from './spoken-at.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

/** By what they are about; of several, the last. */
async function examine(options: Launch) {
  const { code, stdout, output } = await speakAt(options, ['doctor', '--json'])
  expect(output).toBe(stdout)
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { code, of: Object.fromEntries(findings.map((each) => [each.about, each])) }
}

const portOf = (url: string): string => new URL(url).port

/** What a service left when it was stopped. */
const left = freshDirectory()
beforeAll(async () => {
  await (await serve({ directory: left })).kill('SIGTERM')
})

/** A copy of it, for one test alone. */
function stopped(): Launch & { path: string } {
  const directory = freshDirectory()
  cpSync(left, directory, { recursive: true })
  return { directory, path: join(directory, 'data', 'home.db') }
}

test.concurrent('before the first start nothing is wrong, and it says what will be', async () => {
  const { code, of } = await examine({ directory: freshDirectory() })
  expect(code).toBe(0)
  expect(of.database).toMatchObject({ state: 'odd', advice: 'The first start makes it.' })
})

test.concurrent('of a service that runs, all is good', async () => {
  const directory = freshDirectory()
  const { url } = await serve({ directory })
  const env = { PORT: portOf(url), PUBLIC_URL: url }
  const { code, of } = await examine({ directory, env })
  expect(code).toBe(0)
  expect(Object.values(of).filter(({ state }) => state !== 'good')).toEqual([])
  expect(of).toMatchObject({
    ...{ holder: { says: 'a service holds it, and hears commands' } },
    ...{ service: { says: `it is ready at ${url}` }, journal: { says: 'a write-ahead log' } },
    PUBLIC_URL: { says: `${url} leads here` },
  })
  const shown = await speakAt({ directory, env }, ['doctor'])
  expect(shown.stdout).toMatch(
    /^ok {5}Agent Home +\d.*\nok {5}Node\.js +v\d+.*\n(ok .*\n)+Nothing is wrong\.\n$/,
  )
})

test.concurrent('a service of another database is not taken for ours', async () => {
  const { url } = await serve({ directory: freshDirectory() })
  const env = { PORT: portOf(url) }
  const { path: _, ...options } = stopped()
  for (const given of [options, { directory: freshDirectory() }]) {
    const { code, of } = await examine({ ...given, env })
    expect(code).toBe(1)
    const says = `another Agent Home answers at ${url}: no service holds this database`
    expect(of.service).toMatchObject({ state: 'wrong', says })
  }
})

test.concurrent('a server is asked for what it is set to', async () => {
  const { url: DATABASE_URL } = await freshDatabase()
  const { code, of } = await examine({ directory: freshDirectory(), env: { DATABASE_URL } })
  // The servers of tests do not sync: they are told so.
  expect(code).toBe(of.durability?.state === 'wrong' ? 1 : 0)
  for (const about of ['database', 'PostgreSQL', 'encoding', 'clock', 'schema']) {
    expect(of[about]).toMatchObject({ state: 'good' })
  }
  expect(JSON.stringify(of)).not.toContain(new URL(DATABASE_URL).password || 'nothing')
})

test.concurrent('a server that does not answer is named without its password', async () => {
  const DATABASE_URL = 'postgres://me:s3cret@127.0.0.1:1/home'
  const { code, of } = await examine({ directory: freshDirectory(), env: { DATABASE_URL } })
  expect(code).toBe(1)
  expect(of.database).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('127.0.0.1:1'),
  })
  expect(JSON.stringify(of)).not.toContain('s3cret')
})

test.concurrent('what is not set as it must be is all there is to say', async () => {
  const { code, of } = await examine({ directory: freshDirectory(), env: { PORT: 'x' } })
  expect(code).toBe(1)
  expect(of.configuration).toMatchObject({ state: 'wrong', says: expect.stringContaining('PORT') })
  expect(of.database).toBeUndefined()
})

test.concurrent('files that others may read, and a disk that is nearly full', async () => {
  const { path, ...options } = stopped()
  chmodSync(path, 0o644)
  const env = { DISK_RESERVE: '999999999999999' }
  const { code, of } = await examine({ ...options, env })
  expect(code).toBe(1)
  expect(of.files).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('Others may use'),
  })
  expect(of.disk).toMatchObject({ state: 'wrong', advice: expect.stringContaining('Make room') })
})

test.concurrent('a clock that stands behind the data, and a newer schema', async () => {
  const { path, ...options } = stopped()
  const db = new DatabaseSync(path)
  db.exec(`INSERT OR REPLACE INTO heartbeat VALUES (1, ${Date.now() + 3_600_000});
    UPDATE schema_version SET version = 1000, oldest = 1000`)
  db.close()
  const { code, of } = await examine(options)
  expect(code).toBe(1)
  expect(of.clock).toMatchObject({
    state: 'wrong',
    advice: expect.stringContaining('Set the clock'),
  })
  expect(of.schema).toMatchObject({ state: 'wrong', says: expect.stringContaining('it is 1000') })
})

test.concurrent('what is no database is said, and not opened', async () => {
  const directory = freshDirectory()
  mkdirSync(join(directory, 'data', 'home.db'), { recursive: true })
  const { code, of } = await examine({ directory })
  expect(code).toBe(1)
  expect(of.database?.state).toBe('wrong')
})

test.concurrent('an address at which something else answers, and a public one that is not encrypted', async () => {
  const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const env = { PORT: String(port), PUBLIC_URL: 'http://home.invalid' }
  const { code, of } = await examine({ directory: freshDirectory(), env })
  other.close()
  expect(code).toBe(1)
  expect(of.service).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('something else'),
  })
  const shown = await speakAt({ directory: freshDirectory(), env }, ['doctor'])
  expect(shown.stdout).toMatch(/WRONG +PUBLIC_URL +.* is not encrypted\n/)
  expect(shown.stdout).toMatch(/note +PUBLIC_URL +.* cannot be reached from here\n/)
})
