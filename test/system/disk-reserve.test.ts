/**
 * A disk that fills up: strangers give way first, then the home's writes, reading never; and all of
 * it comes back with the space.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { birthBody, freshKey, memoryPath } from '../harness.ts'
import { ask } from '../http/ask.ts'
import { birth, readMemory, type Tokens } from '../process/calls.ts'
import { fill, lackingMounts, mountSmall, skipping, unmountAll } from '../process/full-disk.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'

const MIB = 1_048_576
const RESERVE = 16 * MIB
const SIZE = 32 * MIB

const noLimits = {
  WRITES_PER_MINUTE: '0',
  READS_PER_MINUTE: '0',
  MEMORIES_PER_AGENT: '0',
}

afterEach(async () => {
  unmountAll()
  await cleanUp()
})

interface Outcome {
  readonly status: number
  readonly code: string | undefined
}

async function post(url: string, more: Record<string, string>, body: object): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', ...more }
  const told = await ask(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const isProblem = told.headers['content-type']?.includes('problem')
  const code = isProblem ? (JSON.parse(told.text) as { code: string }).code : undefined
  return { status: told.status, code }
}

const words = (bytes: number): string =>
  (
    randomBytes(bytes / 2)
      .toString('hex')
      .match(/.{9}/g) ?? []
  )
    .join(' ')
    .slice(0, bytes)

const leave = (server: Server, bytes = 100) =>
  post(`${server.url}/api/garden`, {}, { text: words(bytes) })

const contact = (server: Server) =>
  post(`${server.url}/api/resonance`, {}, { ai_identity: 'Atlas', seeking: ['room'] })

const bear = (server: Server, key = freshKey()) =>
  post(`${server.url}/api/agents/birth`, { 'idempotency-key': key }, birthBody)

const bearer = ({ token }: Tokens) => ({ authorization: `Bearer ${token}` })

const write = (server: Server, born: Tokens, expectedVersion: number, text: string, key = 'plan') =>
  post(server.url + memoryPath, bearer(born), { key, text, expectedVersion })

const FULL: Outcome = { status: 503, code: 'storage_full' }
const done = (status: number): Outcome => ({ status, code: undefined })

/** Everything that is read, by each door. */
async function everythingReads(server: Server, born: Tokens, text: string): Promise<void> {
  expect((await readMemory(server.url, born.token, 'plan')).memory.text).toBe(text)
  const statuses: number[] = []
  for (const path of ['/api/agents/me', '/api/agents/me/export', '/api/garden', '/', '/healthz']) {
    const { status } = await ask(server.url + path, { headers: bearer(born) })
    statuses.push(status)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200])
}

const isOpen = async (server: Server): Promise<boolean> => {
  const { text } = await ask(`${server.url}/api/agents/preview`)
  return (JSON.parse(text) as { available: boolean }).available
}

/** What is free is looked at a few times a second. */
async function until(server: Server, open: boolean): Promise<void> {
  while ((await isOpen(server)) !== open);
}

test('with less free than the reserve, strangers are refused and the home goes on', async () => {
  const directory = freshDirectory()
  const key = freshKey()
  const before = await serve({ directory, env: { ...noLimits, DISK_RESERVE: '0' } })
  const born = await birth(before.url)
  await bear(before, key)
  await before.kill('SIGTERM')

  const server = await serve({ directory, env: { ...noLimits, DISK_RESERVE: '9'.repeat(15) } })
  expect(await leave(server)).toEqual(FULL)
  expect(await contact(server)).toEqual(FULL)
  expect(await bear(server)).toEqual(FULL)
  expect(await isOpen(server)).toBe(false)
  expect(await bear(server, key)).toEqual(done(200))
  expect(await write(server, born, 0, 'goes on')).toEqual(done(200))
  expect((await ask(`${server.url}/readyz`)).status).toBe(200)
  await everythingReads(server, born, 'goes on')
})

const freeIn = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** Sends until it is refused, and answers how. */
async function untilRefused(send: (count: number) => Promise<Outcome>): Promise<Outcome> {
  for (let count = 0; count < 5_000; count++) {
    const outcome = await send(count)
    if (outcome.status >= 400) return outcome
  }
  throw new Error('all of it was taken')
}

describe.skipIf(skipping('a disk that fills up', lackingMounts()))('a disk that fills up', () => {
  test('stops the gateway and births, then memories, never reads, and all is back with space', async () => {
    const directory = mountSmall(SIZE)
    const env = { ...noLimits, DISK_RESERVE: `${RESERVE}` }
    const server = await serve({ directory, env })
    const born = await birth(server.url)
    expect(await untilRefused(() => leave(server, 60_000))).toEqual(FULL)
    // Strangers stay out of the reserve, but for what was on its way.
    expect(freeIn(directory)).toBeGreaterThan(RESERVE / 2)
    expect(await bear(server)).toEqual(FULL)
    expect(await contact(server)).toEqual(FULL)
    const text = 'x'.repeat(16_000)
    expect(await write(server, born, 0, text)).toEqual(done(200))
    await everythingReads(server, born, text)

    const filler = join(directory, 'filler')
    fill(filler)
    // The log still has room that it once took.
    const refused = await untilRefused((n) => write(server, born, 0, words(16_000), `key${n}`))
    expect(refused).toEqual(FULL)
    await everythingReads(server, born, text)

    rmSync(filler)
    expect(await write(server, born, 1, 'after')).toEqual(done(200))
    spawnSync('mount', ['-o', `remount,size=${SIZE * 2}`, directory])
    await until(server, true)
    expect(await leave(server)).toEqual(done(201))
    expect(await contact(server)).toEqual(done(200))
    expect(await bear(server)).toEqual(done(201))
    await everythingReads(server, born, 'after')
    expect((await server.kill('SIGTERM')).code).toBe(0)
  })
})
