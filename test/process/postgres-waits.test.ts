/**
 * What others wait on PostgreSQL while one operator brings 64 MiB back, and while all of it is
 * erased: for turns of the process's one thread, and for what the server locks.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { least } from '../http/longest-wait.ts'
import { birth, eraseAgent, readMemory, type Tokens, writeMemory } from './calls.ts'
import { keepings } from './databases.ts'
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
const WAITING = `SELECT count(*)::INT AS waiting FROM pg_stat_activity WHERE datname = current_database()
  AND application_name LIKE 'agent-home%' AND wait_event_type = 'Lock' AND wait_event <> 'extend'`

/** Between two looks, and two rounds of another's life: without end they would be most of the work. */
const LOOK_MS = 5

let beside: pg.Client
let server: Server
let others: readonly Tokens[]
beforeAll(async () => {
  const keeping = await keepings.postgres()
  beside = new pg.Client({ connectionString: keeping.env.DATABASE_URL })
  await beside.connect()
  const entry = 'test/process/turns.ts'
  server = await serve({ ...keeping, entry, env: { ...env, ...keeping.env } })
  others = await Promise.all([0, 1].map(() => birth(server.url)))
})
afterAll(async () => {
  await beside.end()
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
async function meanwhile(work: () => Promise<unknown>): Promise<number> {
  let over = false
  let waits = 0
  const live = async ({ token }: Tokens) => {
    const key = crypto.randomUUID()
    for (let expectedVersion = 0; !over; expectedVersion++, await pause(LOOK_MS)) {
      await writeMemory(server.url, token, { key, text: 'x'.repeat(200), expectedVersion })
      await readMemory(server.url, token, key)
    }
  }
  const watch = async () => {
    for (; !over; await pause(LOOK_MS)) {
      const { rows } = await beside.query<{ waiting: number }>(WAITING)
      waits += rows[0]?.waiting ?? Number.NaN
    }
  }
  const living = Promise.all([...others.map(live), watch()])
  await work().finally(() => {
    over = true
  })
  await living
  return waits
}

/** Homes that were brought, and not erased yet. */
const brought: Tokens[] = []

async function bringOne(): Promise<Tokens> {
  const mine = await birth(server.url)
  await bring(server.url, mine, FILE)
  return mine
}

async function expectNoWait(prepare: () => Promise<Tokens>, work: (mine: Tokens) => Promise<void>) {
  const turn = await least(BOUND_MS, async () => {
    const mine = await prepare()
    await longestTurn()
    expect(await meanwhile(() => work(mine))).toBe(0)
    return longestTurn()
  })
  expect(turn).toBeGreaterThan(0)
  expect(turn).toBeLessThan(BOUND_MS)
}

test('no turn of an import takes more than 25 ms, and no lock of it is waited for', async () => {
  await expectNoWait(
    () => birth(server.url),
    async (mine) => {
      await bring(server.url, mine, FILE)
      brought.push(mine)
    },
  )
}, 300_000)

test('no turn of an erasure takes more than 25 ms, and no lock of it is waited for', async () => {
  await expectNoWait(
    async () => brought.pop() ?? (await bringOne()),
    async (mine) => {
      await eraseAgent(server.url, mine)
    },
  )
}, 300_000)
