/** Databases that come and go on one server. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { prepareServer } from '../../src/store/postgres/schema/migrations.ts'
import { processTimers } from '../../src/timers.ts'

export interface Database {
  readonly name: string
  readonly url: string
  /** The server's, brought up to date with what was committed. */
  readonly directory: () => Promise<string>
  readonly drop: () => Promise<void>
}

const servers = new Map<string, pg.Pool>()

/** One connection to each server, kept while this process lives: to open one costs as much as a clone. */
function serverAt(url: string): pg.Pool {
  const known = servers.get(url)
  if (known) return known
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  // The server may end first: whoever asks it next is told.
  pool.on('error', () => {})
  servers.set(url, pool)
  return pool
}

const administer = async (serverUrl: string, sql: string): Promise<void> => {
  await serverAt(serverUrl).query(sql)
}

async function flushedDirectory(serverUrl: string): Promise<string> {
  await administer(serverUrl, 'CHECKPOINT')
  const { rows } = await serverAt(serverUrl).query<{ data_directory: string }>(
    'SHOW data_directory',
  )
  return rows[0]?.data_directory ?? ''
}

/** The URL of another database there. */
export function at(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

async function create(serverUrl: string, clause: string): Promise<Database> {
  const name = `agent_home_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `CREATE DATABASE ${name} ${clause}`)
  return {
    name,
    url: at(serverUrl, name),
    directory: () => flushedDirectory(serverUrl),
    drop: () => administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

export const createTemplate = (serverUrl: string): Promise<Database> => create(serverUrl, '')

/** A cluster cannot clone a database: there it is made anew, and prepared by this file of SQL. */
const preparing = process.env.TEST_DATABASE_SQL

/** Clones are empty. */
export const isCluster = preparing !== undefined

async function prepared(database: Database, sql: string): Promise<Database> {
  await prepareServer(hostsOf(database.url), processTimers, () => {})
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(sql)
  await client.end()
  return database
}

/** By its files: page by page through the log takes the server half as long again. */
export const cloneDatabase = async (serverUrl: string, template: string): Promise<Database> =>
  preparing === undefined
    ? create(serverUrl, `TEMPLATE ${template} STRATEGY FILE_COPY`)
    : prepared(await create(serverUrl, ''), readFileSync(preparing, 'utf8'))
