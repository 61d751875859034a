/**
 * Others on PostgreSQL go on while one operator brings 64 MiB back, and while all of it is erased:
 * they are answered, and wait for nothing that the server locks.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tell } from '../effort.ts'
import { birth, eraseAgent, readMemory, type Tokens, writeMemory } from '../process/calls.ts'
import { keepings } from '../process/databases.ts'
import { bring } from '../process/exported.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, type Server, serve } from '../process/program.ts'

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

interface Meanwhile {
  /** How often one of the server's sessions was seen to wait. */
  readonly waits: number
  /** Writes of others, each read again. */
  readonly lived: number
}

/** Others who live on. */
async function meanwhile(work: () => Promise<unknown>): Promise<Meanwhile> {
  let over = false
  let waits = 0
  let lived = 0
  const live = async ({ token }: Tokens) => {
    const key = crypto.randomUUID()
    for (let expectedVersion = 0; !over; expectedVersion++, await pause(LOOK_MS)) {
      await writeMemory(server.url, token, { key, text: 'x'.repeat(200), expectedVersion })
      await readMemory(server.url, token, key)
      lived++
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
  return { waits, lived }
}

async function expectOthersToLive(work: () => Promise<unknown>, least: number): Promise<void> {
  await longestTurn()
  const { waits, lived } = await meanwhile(work)
  const turn = await longestTurn()
  expect(waits).toBe(0)
  expect(lived).toBeGreaterThan(least)
  await tell('longest turn of the process meanwhile, in ms', () => turn)
}

test('while it is brought, and erased again, others live on, and wait for no lock', async () => {
  const mine = await birth(server.url)
  await expectOthersToLive(() => bring(server.url, mine, FILE), 100)
  // Quick as it is: two of them would be answered beside it if they waited for all of it.
  await expectOthersToLive(() => eraseAgent(server.url, mine), 4)
})
