/**
 * How statements are sent on a connection. A direct connection has a session of its own: limits are
 * set once, and statements are prepared by name. Behind a transaction pooler nothing outlasts a
 * transaction, so each one brings its limits along, and statements have no names.
 */
import pg from 'pg'
import { StoreUnavailable } from '../../port/errors.ts'
import type { Statement } from '../../verbs/verb.ts'

export type Ask = <Row>(sql: Statement<Row>, ...values: unknown[]) => Promise<Row[]>

export interface Limits {
  readonly statementMs: number
  readonly idleInTransactionMs: number
}

export interface Session {
  /** A statement in an open transaction. */
  readonly ask: Ask
  /** Rows that `ask` has changed so far. */
  readonly changed: () => number
  /** A single statement. */
  readonly askAlone: Ask
  /** A command outside a transaction, without values and rows. */
  command(text: string): Promise<void>
  /** `mode`: isolation level and access mode, as BEGIN takes them. */
  begin(mode?: string): Promise<void>
  commit(): Promise<void>
  rollBack(): Promise<void>
  /** Returns the connection to the pool; a `broken` one is closed instead. */
  release(broken: boolean): void
}

interface Greeting {
  readonly standby: boolean
  readonly own: boolean
}

/** Whether the session is ours and its limits: one query, so that nothing is set for others. */
const greeting = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() = $1::INTEGER AS own,
  CASE WHEN pg_backend_pid() = $1::INTEGER THEN
    set_config('statement_timeout', $2, false)
      || set_config('idle_in_transaction_session_timeout', $3, false)
  END`

/** No server process has this id. */
const NOBODY = 0

/**
 * A pooler invents the process id that it announces, because it must route cancellations: if the
 * announced id is the server's own, there is no pooler in between.
 */
async function greet(client: pg.ClientBase, limits: Limits, mayOwn: boolean): Promise<Greeting> {
  const { processID } = client as pg.ClientBase & { readonly processID: number | null }
  const { rows } = await client.query<Greeting>(greeting, [
    mayOwn ? processID : NOBODY,
    String(limits.statementMs),
    String(limits.idleInTransactionMs),
  ])
  return rows[0] ?? { standby: false, own: false }
}

/** `mayOwn`: false if the URL says so. Throws StoreUnavailable if the server is a standby. */
export async function openSession(
  client: pg.PoolClient,
  limits: Limits,
  mayOwn: boolean,
): Promise<Session> {
  const { standby, own } = await greet(client, limits, mayOwn)
  // A standby answers with old data and takes no writes.
  if (standby) throw new StoreUnavailable('the server is a standby')
  return {
    ...sendingOn(client, limits, own),
    command: (text) => send(client, text),
    commit: () => send(client, 'COMMIT'),
    rollBack: () => send(client, 'ROLLBACK'),
    release: (broken) => client.release(broken),
  }
}

async function send(client: pg.ClientBase, command: string): Promise<void> {
  await client.query(command)
}

type Sending = Pick<Session, 'ask' | 'changed' | 'askAlone' | 'begin'>

/** `own`: without a pooler in between. */
function sendingOn(client: pg.ClientBase, limits: Limits, own: boolean): Sending {
  const { statementMs, idleInTransactionMs } = limits
  const setLimits = `SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`
  let changed = 0

  const ask: Ask = async <Row>({ name, text }: Statement<Row>, ...values: unknown[]) => {
    const result = await client.query(own ? { name, text, values } : { text, values })
    if (result.command !== 'SELECT') changed += result.rowCount ?? 0
    return result.rows as Row[]
  }

  return {
    ask,
    changed: () => changed,
    askAlone: own ? ask : ({ text }, ...values) => askWithin(client, statementMs, text, values),
    begin: (mode = '') => send(client, own ? `BEGIN ${mode}` : `BEGIN ${mode}; ${setLimits}`),
  }
}

/** Returns no row, so that the driver sees only the rows of the actual statement. */
const limit = (statementMs: number): string =>
  `SELECT FROM set_config('statement_timeout', '${statementMs}', true) AS set WHERE set IS NULL`

/**
 * Statements sent before one Sync are one transaction: the limit and its statement cost one round
 * trip, and a pooler cannot separate them.
 */
function askWithin<Row>(
  client: pg.ClientBase,
  statementMs: number,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const extended = { text, values: [...values], queryMode: 'extended' }
    const query = new pg.Query(extended, (error, results) => {
      if (error) reject(error)
      else resolve(lastOf<Row>(results))
    })
    const submit = query.submit
    query.submit = (connection) => {
      connection.stream.cork()
      connection.parse({ name: '', text: limit(statementMs), types: [] }, true)
      connection.bind({}, true)
      connection.execute({}, true)
      const refused = submit.call(query, connection)
      connection.stream.uncork()
      return refused
    }
    client.query(query)
  })
}

/** The driver returns a list for several statements. */
const lastOf = <Row>(results: unknown): Row[] =>
  (results as readonly pg.QueryResult[]).at(-1)?.rows as Row[]
