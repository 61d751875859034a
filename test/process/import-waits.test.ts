/** What everybody else waits while one operator brings 64 MiB back. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { least } from '../http/longest-wait.ts'
import { birth, type Tokens, writeMemory } from './calls.ts'
import { bring } from './exported.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'

const BOUND_MS = 25
const FILE = { keys: 1_000, versions: 4, text: 'x'.repeat(16_380) }

const env = {
  ...{ WRITES_PER_MINUTE: '0', EXPORT_BYTES: '0', BYTES_PER_AGENT: '0' },
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

let server: Server
let others: readonly Tokens[]
beforeAll(async () => {
  server = await serve({ directory: freshDirectory(), env })
  others = await Promise.all([0, 1, 2, 3].map(() => birth(server.url)))
})
afterAll(cleanUp)

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
  const quiet = await longestWait(() => birth(server.url))
  expect(quiet).toBeGreaterThan(0)
  expect(quiet).toBeLessThan(BOUND_MS)
  const waited = await least(BOUND_MS, async () => {
    const mine = await birth(server.url)
    return longestWait(() => bring(server.url, mine, FILE))
  })
  expect(waited).toBeLessThan(BOUND_MS)
}, 300_000)
