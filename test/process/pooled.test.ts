/** Behind a pooler nothing lasts longer than a transaction; without one a connection keeps what it is told. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import {
  type Connections,
  openConnections,
  statement,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { processTimers } from '../../src/timers.ts'
import { at, cloneDatabase, createTemplate, type Database } from '../postgres/databases.ts'
import { exported, NOON, newBirth, newEntry, newWrite, noLimits } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'

/** More than any pooler here has to the server. */
const ROUNDS = 20

/** Several for each connection of a pooler, and for each of a node's to an export. */
const AGENTS = 16

/** For what is to take too long; nothing else is held to it, on however busy a machine. */
const SHORT_MS = 100

interface Kept {
  readonly statements: number
  /** Those of the pooler's own account are the client's. */
  readonly settings: readonly string[]
  readonly locks: number
  readonly channels: number
  readonly cursors: number
  readonly temporary: boolean
}

const NOTHING: Kept = {
  statements: 0,
  settings: [],
  locks: 0,
  channels: 0,
  cursors: 0,
  temporary: false,
}

/** What a session keeps from one transaction to the next. */
const kept = statement<Kept>(`
  SELECT
    (SELECT count(*)::INTEGER FROM pg_prepared_statements) AS statements,
    ARRAY(SELECT name FROM pg_settings WHERE source = 'session' AND name <> 'application_name')
      AS settings,
    (SELECT count(*)::INTEGER FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
      AS locks,
    (SELECT count(*)::INTEGER FROM pg_listening_channels()) AS channels,
    (SELECT count(*)::INTEGER FROM pg_cursors WHERE is_holdable) AS cursors,
    pg_my_temp_schema() <> 0 AS temporary`)

/** Of the sessions that a pooler has to the server, one after the other. */
async function keptBySessions(url: string): Promise<Kept[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const found: Kept[] = []
  for (let round = 0; round < ROUNDS; round++) {
    found.push(...(await client.query<Kept>(kept.text)).rows)
  }
  await client.end()
  return found
}

const limits = statement<{ ms: string; idle: string }>(`
  SELECT current_setting('statement_timeout') AS ms,
    current_setting('idle_in_transaction_session_timeout') AS idle`)

const sleep = statement('SELECT pg_sleep(60)')

const SET = { ms: '5s', idle: '1min' }

const entry = (feed: string) => newEntry({ feed })

/** One agent's life, as many live it at once. */
async function live(store: Store, place: number): Promise<unknown> {
  const birth = newBirth()
  await store.bear(birth, { ...noLimits, inAll: 1_000 }, NOON)
  const agent = await store.identify(birth.agentTokenHash)
  const operator = await store.identify(birth.operatorTokenHash)
  if (!agent || !operator) throw new Error('a birth that answered is not there')
  for (let version = 0; version < 3; version++) {
    await store.writeMemory(agent, newWrite({ expectedVersion: version }), NOON)
  }
  const [read, memories] = await Promise.all([
    store.readMemory(agent, 'plan'),
    exported(store, agent),
    store.leaveEntry(entry(`feed${place % 3}`)),
    store.leasePermits?.({ name: 'reads', quota: 600, windowMs: 60_000 }, agent.agentId, 30),
  ])
  await store.setStatus(operator, 'paused', NOON)
  const paused = await store.writeMemory(agent, newWrite({ key: 'b' }), NOON)
  const rotated = await store.rotateAgentToken(operator, newBirth().agentTokenHash, NOON)
  return [
    read.outcome === 'found' && read.memory.version,
    memories?.length,
    paused.outcome,
    rotated.outcome,
  ]
}

describe.each(inject('poolers'))('through $name', (pooler) => {
  let database: Database
  let url: string
  let impatient: Connections
  let connections: Connections
  beforeAll(async () => {
    database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
    url = at(pooler.url, database.name)
    connections = openConnections(hostsOf(url), 1, 'agent-home test', { timers: processTimers })
    impatient = openConnections(hostsOf(url), 1, 'agent-home test', {
      timers: processTimers,
      statementMs: SHORT_MS,
    })
  })
  afterAll(async () => {
    await Promise.all([connections.close(), impatient.close()])
    await database.drop()
  })

  test('agents that live at once notice nothing of each other, and no session is left changed', async () => {
    const store = await openStore(url, NOON, { ...unbounded, feed: { entries: 10, bytes: 0 } })
    const lives = await Promise.all(
      Array.from({ length: AGENTS }, (_, place) => live(store, place)),
    )
    expect(lives).toEqual(Array(AGENTS).fill([3, 1, 'paused', 'rotated']))
    expect(await store.status()).toMatchObject({ agents: AGENTS, memories: AGENTS })
    await store.close()
    expect(await keptBySessions(url)).toEqual(Array(ROUNDS).fill(NOTHING))
  })

  test('nodes that start at once on an empty database all get the one schema', async () => {
    const empty = await createTemplate(inject('postgresUrl'))
    const open = () =>
      openStore(at(pooler.url, empty.name), NOON, { ...unbounded, feed: { entries: 0, bytes: 0 } })
    const stores = await Promise.all(Array.from({ length: 8 }, open))
    for (const store of stores) {
      await store.checkWritable(NOON)
      await store.close()
    }
    await empty.drop()
  })

  test('each transaction brings its limits along, and leaves none behind', async () => {
    const cancelled = { name: 'StoreUnavailable', cause: { code: '57014' } }
    await expect(impatient.read(sleep)).rejects.toMatchObject(cancelled)
    await expect(impatient.transact((ask) => ask(sleep))).rejects.toMatchObject(cancelled)
    expect(await connections.read(limits)).toEqual([{ ...SET, idle: '0' }])
    expect(await connections.transact((ask) => ask(limits))).toEqual([SET])
    const endless = openConnections(hostsOf(url), 1, 'agent-home test', {
      timers: processTimers,
      statementMs: 0,
    })
    expect(await endless.transact((ask) => ask(limits))).toEqual([{ ...SET, ms: '0' }])
    await endless.close()
    expect(await keptBySessions(url)).toEqual(Array(ROUNDS).fill(NOTHING))
  })
})

describe('without one', () => {
  const opened = (option: string, limit: { readonly statementMs?: number } = {}) =>
    openConnections(hostsOf(`${inject('postgresUrl')}${option}`), 1, 'test', {
      ...limit,
      timers: processTimers,
    })

  test('a connection keeps its limits, and statements have names', async () => {
    const direct = opened('')
    expect(await direct.read(limits)).toEqual([SET])
    expect(await direct.transact((ask) => ask(limits))).toEqual([SET])
    expect(await direct.read(kept)).toMatchObject([{ statements: 2 }])
    await direct.close()
  })

  test('a connection may have no limit of time', async () => {
    const endless = opened('', { statementMs: 0 })
    expect(await endless.transact((ask) => ask(limits))).toEqual([{ ...SET, ms: '0' }])
    await endless.close()
  })

  test('a URL that says ?prepared=false is believed', async () => {
    const shared = opened('?prepared=false')
    expect(await shared.transact((ask) => ask(limits))).toEqual([SET])
    expect(await shared.read(kept)).toEqual([{ ...NOTHING, settings: ['statement_timeout'] }])
    await shared.close()
  })
})
