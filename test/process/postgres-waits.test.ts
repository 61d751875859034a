/**
 * What others wait on PostgreSQL while one operator brings 64 MiB back, and while all of it is
 * erased: for turns of the process's one thread, and for what the server locks.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { least } from '../http/longest-wait.ts'
import { birth, eraseAgent, readMemory, type Tokens, writeMemory } from './calls.ts'
import { type Keeping, keepings, numberOf } from './databases.ts'
import { bring } from './exported.ts'
import { dropDatabases } from './nodes.ts'
import { cleanUp, type Server, serve } from './program.ts'

const BOUND_MS = 25
const FILE = { keys: 1_000, versions: 4, text: 'x'.repeat(16_380) }

const env = {
  ...{ WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', EXPORT_BYTES: '0', BYTES_PER_AGENT: '0' },
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

/** Room for rows is made by one at a time, for a moment. */
const WAITING = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
  AND application_name LIKE 'agent-home%' AND wait_event_type = 'Lock' AND wait_event <> 'extend'`

let keeping: Keeping
let server: Server
let others: readonly Tokens[]
beforeAll(async () => {
  keeping = await keepings.postgres()
  const entry = 'test/process/turns.ts'
  server = await serve({ ...keeping, entry, env: { ...env, ...keeping.env } })
  others = await Promise.all([0, 1, 2, 3].map(() => birth(server.url)))
})
afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

let asked = 0

/** In milliseconds of the processor: what other processes take does not count. */
async function longestTurn(): Promise<number> {
  process.kill(server.pid, 'SIGUSR2')
  const [, ms] = await server.says(new RegExp(`longest turn ${++asked}: (\\S+) ms`))
  return Number(ms)
}

/** Others who live on, and are answered. How often one of the server's sessions was seen to wait. */
async function beside(work: () => Promise<unknown>): Promise<number> {
  let over = false
  let waits = 0
  const live = async ({ token }: Tokens) => {
    const key = crypto.randomUUID()
    for (let expectedVersion = 0; !over; expectedVersion++) {
      await writeMemory(server.url, token, { key, text: 'x'.repeat(200), expectedVersion })
      await readMemory(server.url, token, key)
    }
  }
  const watch = async () => {
    while (!over) waits += await numberOf(keeping, WAITING)
  }
  const living = Promise.all([...others.map(live), watch()])
  await work().finally(() => {
    over = true
  })
  await living
  return waits
}

test.each([
  ['an import', (mine: Tokens) => bring(server.url, mine, FILE)],
  ['an erasure', (mine: Tokens) => eraseAgent(server.url, mine)],
])(
  'no turn of %s takes more than 25 ms, and no lock of it is waited for',
  async (name, work) => {
    const turn = await least(BOUND_MS, async () => {
      const mine = await birth(server.url)
      if (name === 'an erasure') await bring(server.url, mine, FILE)
      await longestTurn()
      expect(await beside(() => work(mine))).toBe(0)
      return longestTurn()
    })
    expect(turn).toBeGreaterThan(0)
    expect(turn).toBeLessThan(BOUND_MS)
  },
  300_000,
)
