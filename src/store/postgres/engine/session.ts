/**
 * How statements are sent on a connection. One that leads to the server itself has a session of its
 * own: its limits are set once, and its statements have names. Behind a pooler that hands each
 * transaction to another of the server's connections nothing lasts longer than a transaction, so
 * each brings its limits along, and no statement has a name.
 */
import pg from 'pg'
import { StoreUnavailable } from '../../port/errors.ts'
import type { Ask, Statement } from './connections.ts'

export interface Limits {
  readonly statementMs: number
  readonly idleInTransactionMs: number
}

export interface Session {
  /** One statement, within a transaction that was begun. */
  readonly ask: Ask
  /** Rows that `ask` has inserted, updated or deleted so far. */
  readonly changed: () => number
  /** One statement by itself. */
  readonly askAlone: Ask
  /** By itself, and no statement: it has neither values nor rows. */
  command(text: string): Promise<void>
  /** `mode`: the isolation, and whether it only reads, as BEGIN takes them. */
  begin(mode?: string): Promise<void>
  commit(): Promise<void>
  rollBack(): Promise<void>
  /** Back to where it came from; `broken`, and it is closed instead. */
  release(broken: boolean): void
}

interface Greeting {
  readonly standby: boolean
  readonly own: boolean
}

/** Nothing is set for others: whose session this is and its limits are one question. */
const greeting = `SELECT pg_is_in_recovery() AS standby, pg_backend_pid() = $1::INTEGER AS own,
  CASE WHEN pg_backend_pid() = $1::INTEGER THEN
    set_config('statement_timeout', $2, false)
      || set_config('idle_in_transaction_session_timeout', $3, false)
  END`

/** No process of a server has this number. */
const NOBODY = 0

/**
 * A pooler makes up the number of the process that it announces, for it must know whose statement is
 * to be cancelled: one that is the server's own says that nobody stands between.
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

/** `mayOwn`: false where the URL denies it. Throws StoreUnavailable: the server is a standby. */
export async function openSession(
  client: pg.PoolClient,
  limits: Limits,
  mayOwn: boolean,
): Promise<Session> {
  const { standby, own } = await greet(client, limits, mayOwn)
  // It answers with the past and takes no writes.
  if (standby) throw new StoreUnavailable('the server is a standby')
  return {
    ...(own ? ownSession(client) : borrowedSession(client, limits)),
    command: (text) => send(client, text),
    commit: () => send(client, 'COMMIT'),
    rollBack: () => send(client, 'ROLLBACK'),
    release: (broken) => client.release(broken),
  }
}

async function send(client: pg.ClientBase, command: string): Promise<void> {
  await client.query(command)
}

type Speech = Pick<Session, 'ask' | 'changed' | 'askAlone' | 'begin'>

function countChanges() {
  let changed = 0
  return {
    changed: () => changed,
    count({ command, rowCount }: pg.QueryResult): void {
      if (command !== 'SELECT') changed += rowCount ?? 0
    },
  }
}

function ownSession(client: pg.ClientBase): Speech {
  const { changed, count } = countChanges()
  const ask: Ask = async <Row>({ name, text }: Statement<Row>, ...values: unknown[]) => {
    const result = await client.query({ name, text, values })
    count(result)
    return result.rows as Row[]
  }
  return { ask, changed, askAlone: ask, begin: (mode = '') => send(client, `BEGIN ${mode}`) }
}

function borrowedSession(client: pg.ClientBase, limits: Limits): Speech {
  const { statementMs, idleInTransactionMs } = limits
  const setLimits = `SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`
  const { changed, count } = countChanges()
  return {
    async ask<Row>({ text }: Statement<Row>, ...values: unknown[]) {
      const result = await client.query({ text, values })
      count(result)
      return result.rows as Row[]
    },
    changed,
    askAlone: ({ text }, ...values) => askWithin(client, statementMs, text, values),
    begin: (mode = '') => send(client, `BEGIN ${mode}; ${setLimits}`),
  }
}

/** Of no row: a statement's rows are all that the driver is to see. */
const limit = (statementMs: number): string =>
  `SELECT FROM set_config('statement_timeout', '${statementMs}', true) AS set WHERE set IS NULL`

/**
 * Statements that are sent before one Sync are one transaction: the limit and what it limits cost
 * one round trip, and a pooler sees no end between them.
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

/** The driver's answer to several statements is a list. */
const lastOf = <Row>(results: unknown): Row[] =>
  (results as readonly pg.QueryResult[]).at(-1)?.rows as Row[]
