/** A bounded connection pool to the primary, and how statements run on it. */
import pg from 'pg'
import type { Timers } from '../../../timers.ts'
import { StoreUnavailable } from '../../port/errors.ts'
import { breaksConnection, mayRetry, translate } from './faults.ts'
import type { Hosts } from './hosts.ts'
import { type Ask, openSession, type Session } from './session.ts'

const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 5_000
/** Longer than the server's own limit: reached only if the server or the network is gone. */
const GRACE_MS = 3_000
/** Longer than a stalled reader of an export is allowed. */
const IDLE_IN_TRANSACTION_MS = 60_000
const IDLE_MS = 30_000

const ATTEMPTS = 5
const BACKOFF_MS = 10

export { type Statement, statement, unprepared } from '../../verbs/verb.ts'

export interface Connections {
  /** One read-only statement. */
  readonly read: Ask
  /** One statement, committed when it returns. Throws OutcomeUnknown. */
  readonly write: Ask
  /** Several statements in one transaction. `work` may be retried. Throws OutcomeUnknown. */
  transact<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  /** The same, counted as a commit if a row was changed. */
  change<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  /** A command that cannot run in a transaction. */
  alone(command: string): Promise<void>
  /** A dedicated connection, for a snapshot that outlives a call; must be released. */
  acquire(): Promise<Session>
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

/** What the pool says if its connections stay in use for too long: that is no fault of the server. */
const ALL_IN_USE = 'timeout exceeded when trying to connect'

const areAllInUse = (error: unknown): boolean =>
  error instanceof Error && error.message === ALL_IN_USE

interface Pooled extends Session {
  /** The server that it leads to. */
  readonly url: string
}

interface Pool {
  /** Only to the current server: the others may have been primaries, and answer with old data. */
  connect(): Promise<Pooled>
  end(): Promise<void>
}

function openPool(hosts: Hosts, max: number, name: string, statementMs: number): Pool {
  // Only options that every pooler passes on; limits are set once the server is known.
  const options: pg.ClientConfig = {
    types,
    fallback_application_name: name,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementMs && statementMs + GRACE_MS,
  }
  class ClientOfCurrentHost extends pg.Client {
    readonly url: string
    constructor() {
      const url = hosts.current()
      super({ ...options, connectionString: url })
      this.url = url
    }
  }
  const limits = { statementMs, idleInTransactionMs: IDLE_IN_TRANSACTION_MS }
  const mayOwn = hosts.option('prepared') !== 'false'
  const sessions = new WeakMap<pg.ClientBase, Pooled>()
  const pool: pg.Pool = new pg.Pool({
    Client: ClientOfCurrentHost,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    async onConnect(client) {
      const session = await openSession(client as pg.PoolClient, limits, mayOwn)
      sessions.set(client, { ...session, url: (client as ClientOfCurrentHost).url })
    },
  })
  // Errors of a connection reach its current user; without one they can be ignored.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  async function connect(): Promise<Pooled> {
    const client = await pool.connect()
    const session = sessions.get(client)
    if (!session) throw new Error('a connection was given out before it was greeted')
    if (session.url === hosts.current()) return session
    session.release(true)
    return connect()
  }
  return { connect, end: () => pool.end() }
}

/**
 * 20, 40, 80… ms plus up to as much again, so that colliding transactions do not meet again. The
 * fraction of the current millisecond is random enough for that.
 */
const backoff = ({ pause, stopwatch }: Timers, attempt: number): Promise<void> =>
  pause(BACKOFF_MS * 2 ** attempt * (1 + (stopwatch() % 1)))

interface ConnectionOptions {
  readonly timers: Timers
  /** 0: no limit. */
  readonly statementMs?: number
  /** Called for each commit of `change` that changed a row. */
  readonly committed?: () => void
}

export function openConnections(
  hosts: Hosts,
  max: number,
  name: string,
  { timers, statementMs = STATEMENT_TIMEOUT_MS, committed = () => {} }: ConnectionOptions,
): Connections {
  const pool = openPool(hosts, max, name, statementMs)

  async function acquire(): Promise<Pooled> {
    for (let tried = 1; ; tried++) {
      const url = hosts.current()
      try {
        return await pool.connect()
      } catch (cause) {
        const isBusy = areAllInUse(cause)
        if (!isBusy) hosts.failed(url)
        if (!isBusy && tried < hosts.count) continue
        throw new StoreUnavailable('no connection to the database', { cause })
      }
    }
  }

  /** Runs the work on a pooled connection, and returns the connection only if it is intact. */
  async function run<T>(
    changes: boolean,
    work: (session: Session) => Promise<T>,
    attempt = 1,
  ): Promise<T> {
    const session = await acquire()
    try {
      const result = await work(session)
      session.release(false)
      return result
    } catch (error) {
      // A primary that was replaced may hang for ever instead of ending its connections.
      if (breaksConnection(error)) hosts.failed(session.url)
      session.release(breaksConnection(error))
      if (!mayRetry(error) || attempt === ATTEMPTS) throw translate(error, changes)
      await backoff(timers, attempt)
    }
    return run(changes, work, attempt + 1)
  }

  return {
    read: (sql, ...values) => run(false, (session) => session.askAlone(sql, ...values)),
    write: (sql, ...values) => run(true, (session) => session.askAlone(sql, ...values)),
    transact: (work) => run(true, (session) => inTransaction(session, work)),
    change: (work) =>
      run(true, async (session) => {
        const before = session.changed()
        const result = await inTransaction(session, work)
        if (session.changed() > before) committed()
        return result
      }),
    alone: (command) => run(false, (session) => session.command(command)),
    acquire,
    close: () => pool.end(),
  }
}

/** If it fails, the server does it when the session ends. */
async function rollBack(session: Session): Promise<void> {
  try {
    await session.rollBack()
  } catch (error) {
    throw translate(error, false)
  }
}

async function inTransaction<T>(session: Session, work: (ask: Ask) => Promise<T>): Promise<T> {
  let committing = false
  try {
    await session.begin()
    const result = await work(session.ask)
    committing = true
    await session.commit()
    return result
  } catch (error) {
    if (!breaksConnection(error)) await rollBack(session)
    // Nothing is committed before COMMIT is sent.
    throw committing || mayRetry(error) ? error : translate(error, false)
  }
}
