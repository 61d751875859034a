/** An export that the server breaks off: the pool gets no connection back that is of no use. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { exported, newBirth, newWrite, noLimits } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'
import { cloneDatabase, type Database } from './databases.ts'

/** As many as may be read at once. */
const EXPORTS = 4

let database: Database
let store: Store
let agent: Identity
let holder: pg.Client
let watcher: pg.Client
beforeAll(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  store = await openStore(database.url, 0, unbounded)
  const birth = newBirth()
  await store.bear(birth, noLimits, 0)
  agent = (await store.identify(birth.agentTokenHash)) as Identity
  await store.writeMemory(agent, newWrite(), 0)
})
afterAll(async () => {
  await store.close()
  await database.drop()
})
beforeEach(async () => {
  const connect = async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    return client
  }
  holder = await connect()
  watcher = await connect()
})
afterEach(() => Promise.all([holder.end(), watcher.end()]))

/** Ends them the moment that all of them wait. */
async function breakOff(how: string, count: number): Promise<void> {
  const waiting = `FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'agent-home export' AND wait_event_type = 'Lock'`
  const allWait = async () => (await watcher.query(`SELECT 1 ${waiting}`)).rowCount === count
  await expect.poll(allWait).toBe(true)
  await watcher.query(`SELECT ${how}(pid) ${waiting}`)
}

test.each([
  ['credentials', 'pg_cancel_backend'],
  ['credentials', 'pg_terminate_backend'],
  ['memories', 'pg_cancel_backend'],
  ['memories', 'pg_terminate_backend'],
])('reading %s, by %s: it is said, and the next exports are whole', async (table, how) => {
  await holder.query('BEGIN')
  await holder.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  const broken = Array.from({ length: EXPORTS }, () => exported(store, agent))
  const ended = Promise.allSettled(broken)
  await breakOff(how, EXPORTS)
  for (const { status, reason } of (await ended) as PromiseRejectedResult[]) {
    expect(status).toBe('rejected')
    expect(reason).toBeInstanceOf(StoreUnavailable)
    expect(reason).not.toBeInstanceOf(OutcomeUnknown)
  }
  await holder.query('ROLLBACK')
  const whole = await Promise.all(broken.map(() => exported(store, agent)))
  expect(whole.map((memories) => memories?.length)).toEqual(Array(EXPORTS).fill(1))
})
