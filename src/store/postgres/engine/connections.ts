/** A bounded pool of connections to the primary, and how statements run on it. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { StoreUnavailable } from '../../port/errors.ts'
import { breaksConnection, isReadOnly, mayRetry, translate } from './faults.ts'
import type { Hosts } from './hosts.ts'

const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 5_000
/** Beyond the server's own limit: reached only when the server or the way to it is gone. */
const GRACE_MS = 3_000
/** Above the time that a stalled reader of an export is given. */
const IDLE_IN_TRANSACTION_MS = 60_000
const IDLE_MS = 30_000

const ATTEMPTS = 5
const BACKOFF_MS = 10

/** SQL with a name: parsed once on each connection. */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Never there: it carries the type of a row. */
  readonly row?: Row
}

export const statement = <Row = never>(name: string, text: string): Statement<Row> => ({
  name,
  text,
})

export type Ask = <Row>(sql: Statement<Row>, ...values: unknown[]) => Promise<Row[]>

export interface Connections {
  /** One statement that changes nothing. */
  readonly read: Ask
  /** One statement, committed when it answers. Throws OutcomeUnknown. */
  readonly write: Ask
  /** Several statements that commit together. `work` may run again. Throws OutcomeUnknown. */
  transact<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  /** A connection of one's own, for a snapshot that outlives a call; to be released. */
  acquire(): Promise<pg.PoolClient>
  close(): Promise<void>
}

const INT8 = 20

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`)
  return value
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === INT8 ? safeInteger : pg.types.getTypeParser(oid, format),
}

/** A standby answers with the past and takes no writes. */
async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
  if (rows[0]?.standby) throw new StoreUnavailable('the server is a standby')
}

function openPool(hosts: Hosts, max: number, name: string, statementMs: number): pg.Pool {
  const options: pg.ClientConfig = {
    types,
    fallback_application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  }
  class ClientOfCurrentHost extends pg.Client {
    constructor() {
      super({ ...options, connectionString: hosts.current() })
    }
  }
  const pool = new pg.Pool({
    Client: ClientOfCurrentHost,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    onConnect: refuseStandby,
  })
  // A connection that breaks tells whoever is using it; nobody else needs to know.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * 20, 40, 80… ms, stretched by up to as much again so that those who collided do not meet again.
 * The fraction of a millisecond is chance enough for that.
 */
const backoff = (attempt: number): Promise<void> =>
  setTimeout(BACKOFF_MS * 2 ** attempt * (1 + (performance.now() % 1)))

export function openConnections(
  hosts: Hosts,
  max: number,
  name: string,
  statementMs = STATEMENT_TIMEOUT_MS,
): Connections {
  const pool = openPool(hosts, max, name, statementMs)

  async function acquire(): Promise<pg.PoolClient> {
    for (let tried = 1; ; tried++) {
      const url = hosts.current()
      try {
        return await pool.connect()
      } catch (cause) {
        hosts.failed(url)
        if (tried < hosts.count) continue
        throw new StoreUnavailable('no connection to the database', { cause })
      }
    }
  }

  /** Runs the work on a connection of the pool, and gives back only one that is sound. */
  async function run<T>(
    changes: boolean,
    work: (client: pg.PoolClient) => Promise<T>,
    attempt = 1,
  ): Promise<T> {
    const client = await acquire()
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      if (isReadOnly(error)) hosts.failed(hosts.current())
      client.release(breaksConnection(error))
      if (!mayRetry(error) || attempt === ATTEMPTS) throw translate(error, changes)
      await backoff(attempt)
    }
    return run(changes, work, attempt + 1)
  }

  return {
    read: (sql, ...values) => run(false, (client) => askOn(client)(sql, ...values)),
    write: (sql, ...values) => run(true, (client) => askOn(client)(sql, ...values)),
    transact: (work) => run(true, (client) => inTransaction(client, work)),
    acquire,
    close: () => pool.end(),
  }
}

export const askOn =
  (client: pg.ClientBase): Ask =>
  async <Row>({ name, text }: Statement<Row>, ...values: unknown[]) => {
    const { rows } = await client.query({ name, text, values })
    return rows as Row[]
  }

/** Where it fails, the server does it when the session ends. */
async function rollBack(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('ROLLBACK')
  } catch (error) {
    throw translate(error, false)
  }
}

async function inTransaction<T>(client: pg.PoolClient, work: (ask: Ask) => Promise<T>): Promise<T> {
  let committing = false
  try {
    await client.query('BEGIN')
    const result = await work(askOn(client))
    committing = true
    await client.query('COMMIT')
    return result
  } catch (error) {
    if (!breaksConnection(error)) await rollBack(client)
    // Nothing is committed before COMMIT is sent.
    throw committing || mayRetry(error) ? error : translate(error, false)
  }
}
