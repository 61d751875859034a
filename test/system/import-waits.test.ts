/** What everybody else waits while one operator brings 64 MiB back. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tell } from '../effort.ts'
import { birth, type Tokens, writeMemory } from '../process/calls.ts'
import { bring } from '../process/exported.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'

/** Handed to the thread that writes four versions at a time. */
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

/** Each of the others writes one version after the other while the work is done; `wrote`: after each. */
async function writeBeside(work: () => Promise<unknown>, wrote: () => void): Promise<void> {
  let over = false
  const write = async ({ token }: Tokens) => {
    const key = crypto.randomUUID()
    for (let expectedVersion = 0; !over; expectedVersion++) {
      await writeMemory(server.url, token, { key, text: 'x'.repeat(200), expectedVersion })
      wrote()
    }
  }
  const writing = Promise.all(others.map(write))
  await work().finally(() => {
    over = true
  })
  await writing
}

/** The most that was done at once between two answers to the others' writes. */
async function longestWait(work: () => Promise<unknown>): Promise<number> {
  const thread = writersThread()
  let longest = 0
  let before = spentMs(thread)
  await writeBeside(work, () => {
    const now = spentMs(thread)
    longest = Math.max(longest, now - before)
    before = now
  })
  return longest
}

test('others go on writing all the while', async () => {
  const mine = await birth(server.url)
  let wrote = 0
  const importing = () => bring(server.url, mine, FILE)
  await writeBeside(importing, () => wrote++)
  // Four of them wait for one write each where it is brought in one piece, and it has 1,000.
  expect(wrote).toBeGreaterThan(500)
  await tell('the most work of an import between two writes of others, in ms', () =>
    longestWait(importing),
  )
})
