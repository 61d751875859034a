/** A database in which everything that there is was done, closed as a service closes it. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { inject } from 'vitest'
import type { Violation } from '../../../src/store/port/check.ts'
import * as onPostgres from '../../../src/store/postgres/check/verify.ts'
import { openConnections, unprepared } from '../../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../../src/store/postgres/engine/hosts.ts'
import * as onSqlite from '../../../src/store/sqlite/check/verify.ts'
import { processTimers } from '../../../src/timers.ts'
import {
  type Born,
  type Engine,
  openService,
  type TestService,
  temporaryDirectory,
  write,
} from '../../harness.ts'
import { cloneDatabase, isCluster } from '../../postgres/databases.ts'

const MANY = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' }

const account = { email: 'operator@example.org', password: 'correct horse battery' }

async function keep(service: TestService, { token, operatorToken }: Born): Promise<void> {
  const ask = (method: string, path: string, as: string, body?: unknown) =>
    service.call(method, `/api/agents/me/${path}`, { token: as, ...(body ? { body } : {}) })
  for (const [at, text] of ['one', 'two', 'three', 'four'].entries()) {
    await write(service, token, 'plan', text, at)
    await write(service, token, 'gone', text, at)
    await write(service, token, 'erased', text, at)
    await write(service, token, 'holed', text, at)
  }
  await write(service, token, 'moving', 'there')
  const pinned = { key: 'pinned', text: 'Always.', metadata: { pinned: true }, expectedVersion: 0 }
  await ask('POST', 'memory', token, pinned)
  await ask('DELETE', 'memory?key=gone&expectedVersion=4', token)
  await ask('POST', 'memory/erase', operatorToken, { key: 'erased', versions: 'all' })
  await ask('POST', 'memory/erase', operatorToken, { key: 'holed', versions: [2] })
  const rename = { from: 'moving', to: 'moved', expectedVersion: 1 }
  await ask('POST', 'batch', token, { operations: [{ rename }] })
  await write(service, token, 'late', 'one')
  await write(service, token, 'late', 'two', 1)
  const vectors = ['plan', 'late'].map((key, at) => ({ key, version: 4 - 2 * at, vector: [at, 1] }))
  await ask('POST', 'memories/vectors', token, { model: 'm', vectors })
  await ask('POST', 'keys/named', operatorToken, { name: 'CI', access: 'read', prefix: 'p' })
}

/** Into another agent, with all versions. */
async function leaveFor(service: TestService, from: Born, to: Born): Promise<void> {
  const path = '/api/agents/me/export?history=true'
  const { text } = await service.call('GET', path, { token: from.token })
  await write(service, to.token, 'plan', 'mine')
  await service.call('POST', '/api/agents/me/import?onConflict=replace', {
    token: to.operatorToken,
    headers: { 'content-type': 'application/json' },
    body: text,
  })
}

async function visit(service: TestService): Promise<void> {
  const seed = { text: 'What does a memory weigh?', tags: ['memory', 'weight'], symbol: 'pamyat' }
  await service.call('POST', '/api/seeds', { body: seed })
  await service.call('POST', '/api/garden', { body: { text: 'I passed through.' } })
  await service.call('POST', '/api/resonance', { body: { ai_identity: 'Echo' } })
}

export type Row = Readonly<Record<string, string | number | boolean | Uint8Array | null>>

/** A transaction that is not committed. */
export interface Begun {
  readonly ask: (sql: string) => Promise<readonly Row[]>
  /** What all checks of rows find once this was done, which is then undone. */
  readonly faultsAfter: (sql: string) => Promise<readonly Violation[]>
  readonly checkLog: () => Promise<readonly Violation[]>
  /** Of the first check that fails, from the last one on; none if all hold. */
  readonly firstFaults: () => Promise<readonly Violation[]>
  readonly end: () => Promise<void>
}

export interface Lived {
  /** A path or a URL. */
  readonly place: string
  /** A copy in which something was done that no program of ours does; it lasts until the next. */
  readonly damaged: (sql: string) => Promise<string>
  readonly begin: () => Promise<Begun>
  readonly drop: () => Promise<void>
}

type Checks<Data> = readonly ((
  data: Data,
) => readonly Violation[] | Promise<readonly Violation[]>)[]

async function allOf<Data>(checks: Checks<Data>, data: Data): Promise<readonly Violation[]> {
  const faults: Violation[] = []
  for (const check of checks) faults.push(...(await check(data)))
  return faults
}

/** Most of what is changed is found by the chains, which come last. */
async function firstOf<Data>(checks: Checks<Data>, data: Data): Promise<readonly Violation[]> {
  for (const check of checks.toReversed()) {
    const faults = await check(data)
    if (faults.length > 0) return faults
  }
  return []
}

function inFile(): Lived {
  const directory = temporaryDirectory()
  const place = join(directory, 'home.db')
  const copy = join(directory, 'damaged.db')
  return {
    place,
    async damaged(sql) {
      copyFileSync(place, copy)
      const db = new DatabaseSync(copy, { enableForeignKeyConstraints: false })
      db.exec(`PRAGMA journal_mode = DELETE; ${sql}`)
      db.close()
      return copy
    },
    async begin() {
      const db = new DatabaseSync(place, { enableForeignKeyConstraints: false })
      db.exec('BEGIN')
      return {
        ask: async (sql) => db.prepare(sql).all() as Row[],
        async faultsAfter(sql) {
          db.exec(`SAVEPOINT damaged; ${sql}`)
          const faults = await allOf(onSqlite.checksOfRows, db)
          db.exec('ROLLBACK TO damaged; RELEASE damaged')
          return faults
        },
        checkLog: async () => onSqlite.checkLog(db),
        firstFaults: () => firstOf(onSqlite.checksOfRows, db),
        end: async () => db.close(),
      }
    },
    drop: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Without the triggers, which check references. */
const UNCHECKED = 'session_replication_role = replica'

async function onServer(live: (place: string) => Promise<void>): Promise<Lived> {
  const server = inject('postgresUrl')
  const database = await cloneDatabase(server, inject('postgresTemplate'))
  let copy: typeof database | undefined
  return {
    place: database.url,
    async damaged(sql) {
      await copy?.drop()
      copy = await cloneDatabase(server, database.name)
      if (isCluster) await live(copy.url)
      const client = new pg.Client({ connectionString: copy.url })
      await client.connect()
      await client.query(`SET ${UNCHECKED}; ${sql}`)
      await client.end()
      return copy.url
    },
    async begin() {
      const connections = openConnections(hostsOf(database.url), 1, 'test', {
        timers: processTimers,
      })
      const session = await connections.acquire()
      await session.begin()
      const ask = (sql: string) => session.ask(unprepared<Row>(sql))
      return {
        ask,
        async faultsAfter(sql) {
          await ask(`SAVEPOINT damaged; SET LOCAL ${UNCHECKED}; ${sql}`)
          const faults = await allOf(onPostgres.checksOfRows, session.ask)
          await ask('ROLLBACK TO damaged; RELEASE damaged')
          return faults
        },
        checkLog: () => onPostgres.checkLog(session.ask),
        firstFaults: () => firstOf(onPostgres.checksOfRows, session.ask),
        async end() {
          session.release(true)
          await connections.close()
        },
      }
    },
    async drop() {
      await copy?.drop()
      await database.drop()
    },
  }
}

/** A service on a database that is there already. */
export function serviceAt(
  engine: Engine,
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const database = { url, directory: async () => '', drop: async () => {} }
  return openService({ ...engine, fresh: async () => database }, { ...MANY, ...env })
}

async function live(engine: Engine, url: string): Promise<void> {
  const service = await serviceAt(engine, url)
  const first = await service.birth(account)
  const second = await service.birth()
  await keep(service, first)
  await leaveFor(service, first, second)
  await service.call('POST', '/api/agents/me/operator-keys', {
    token: second.operatorToken,
    headers: { 'idempotency-key': 'ab'.repeat(32) },
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams(account).toString()
  await service.call('POST', '/console/sign-in', { headers: form, body })
  await visit(service)
  await service.close()
}

export async function liveOn(engine: Engine, life = live): Promise<Lived> {
  const isFile = engine.name === 'sqlite'
  const lived = isFile ? inFile() : await onServer((place) => life(engine, place))
  await life(engine, isFile ? `sqlite:${lived.place}` : lived.place)
  return lived
}
