/** What everybody else waits while one operator brings 64 MiB back. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { least } from '../http/longest-wait.ts'
import { birth, type Tokens, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'

const AT = '2026-11-21T10:00:00.000Z'
const ID = '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e'
const KEYS = 1_000
const VERSIONS = 4
const TEXT = 'x'.repeat(16_380)

const factsOf = (n: number) => ({ id: ID, key: `k${String(n).padStart(5, '0')}`, createdAt: AT })

const memory = (n: number) =>
  JSON.stringify({ ...factsOf(n), text: TEXT, metadata: {}, version: VERSIONS, updatedAt: AT })

function version(n: number, at: number): string {
  const content = at < VERSIONS && { text: TEXT, metadata: {} }
  return JSON.stringify({
    ...factsOf(n),
    ...{ version: at, operation: 'write', by: null, updatedAt: AT, ...content },
  })
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

function* file(): Generator<string> {
  const head = { format: 'service-home-v1', agent: {}, exportedAt: AT, memoryCount: KEYS }
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  for (const n of numbers(KEYS)) yield (n > 0 ? ',' : '') + memory(n)
  yield '],"history":['
  for (const n of numbers(KEYS)) {
    for (const at of numbers(VERSIONS)) yield (n + at > 0 ? ',' : '') + version(n, at + 1)
  }
  yield ']}'
}

const env = {
  ...{ WRITES_PER_MINUTE: '0', EXPORT_BYTES: '0', BYTES_PER_AGENT: '0' },
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

let server: Server
let others: readonly Tokens[]
beforeAll(async () => {
  server = await serve({ directory: freshDirectory(), env })
  others = await Promise.all(numbers(4).map(() => birth(server.url)))
})
afterAll(cleanUp)

async function bring({ operator_token }: Tokens): Promise<void> {
  const headers = {
    authorization: `Bearer ${operator_token}`,
    'content-type': 'application/json',
  }
  const sending = request(`${server.url}/api/agents/me/import`, { method: 'POST', headers })
  const [[response]] = await Promise.all([
    once(sending, 'response') as Promise<[IncomingMessage]>,
    pipeline(file(), sending),
  ])
  const said = JSON.parse(await text(response))
  expect([response.statusCode, said]).toMatchObject([200, { imported: KEYS }])
}

/** The thread that every write waits for. */
function writersThread(): string {
  const tasks = `/proc/${server.pid}/task`
  const nameOf = (id: string) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim()
  const id = readdirSync(tasks).find((each) => nameOf(each) === 'writer-thread')
  return `${tasks}/${id}/schedstat`
}

/** What it had of the processor so far: what the disk and other processes take is not the import's. */
const spentMs = (thread: string): number =>
  Number(readFileSync(thread, 'utf8').split(' ')[0] ?? Number.NaN) / 1e6

/** The most that was done at once while somebody else's write waited. */
async function longestWait(work: () => Promise<unknown>): Promise<number> {
  const thread = writersThread()
  let over = false
  let longest = 0
  const write = async ({ token }: Tokens) => {
    const key = crypto.randomUUID()
    for (let expectedVersion = 0; !over; expectedVersion++) {
      const before = spentMs(thread)
      await writeMemory(server.url, token, { key, text: 'x'.repeat(200), expectedVersion })
      longest = Math.max(longest, spentMs(thread) - before)
    }
  }
  const writing = Promise.all(others.map(write))
  await work().finally(() => {
    over = true
  })
  await writing
  return longest
}

test('no write of anybody else waits for more than 25 ms of it', async () => {
  const bound = 25
  const quiet = await longestWait(() => birth(server.url))
  expect(quiet).toBeGreaterThan(0)
  expect(quiet).toBeLessThan(bound)
  const waited = await least(bound, async () => {
    const mine = await birth(server.url)
    return longestWait(() => bring(mine))
  })
  expect(waited).toBeLessThan(bound)
}, 300_000)
