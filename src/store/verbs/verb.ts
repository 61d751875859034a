/**
 * A verb is written once for both engines: a generator that yields statements and receives their
 * rows. On SQLite it runs without waiting; on PostgreSQL each statement is a round trip. As a
 * generator it cannot wait for anything else, so it never holds a transaction open.
 */

import { hash } from 'node:crypto'

export type Scalar = string | number | boolean | Uint8Array | null | undefined

/** Arrays on PostgreSQL alone. */
export type Value = Scalar | readonly Scalar[]

/**
 * SQL for both engines, with parameters `$1`, `$2`, …. An empty name: it is not prepared.
 */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Never present; it carries the type of a row. */
  readonly row?: Row
}

/** PostgreSQL's names have up to 63 bytes. */
const NAME_DIGITS = 32

/** Prepared once per connection, under a name that follows from its text. */
export const statement = <Row = never>(text: string): Statement<Row> => ({
  name: hash('sha256', text, 'hex').slice(0, NAME_DIGITS),
  text,
})

/** For what is asked once, and for several statements in one text. */
export const unprepared = <Row = never>(text: string): Statement<Row> => ({ name: '', text })

/** Expired rows that go with each one that comes. */
const SWEPT_AT_ONCE = 20

/**
 * Removes a few rows that expired by `$1`, asked for whenever a row is added: they never add up, and
 * no statement has to remove all at once. Those that another transaction removes are left to it.
 */
export const sweep = (table: string, id: string): Statement<never> =>
  statement(`
  DELETE FROM ${table} WHERE ${id} IN (
    SELECT ${id} FROM ${table} WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${SWEPT_AT_ONCE}
    FOR UPDATE SKIP LOCKED)`)

export interface Question {
  readonly statement: Statement<unknown>
  readonly values: readonly Value[]
}

export type Verb<Answer> = Generator<Question, Answer, readonly unknown[]>

/** The rows of a statement, in the verb's transaction. */
export function* ask<Row>(
  statement: Statement<Row>,
  ...values: readonly Value[]
): Verb<readonly Row[]> {
  return (yield { statement, values }) as readonly Row[]
}

/** Verbs by name. */
export type Verbs = Readonly<Record<string, (...args: never) => Verb<unknown>>>

/** Functions under the same names that call these. */
export const mapVerbs = <Answer>(
  verbs: Readonly<Record<string, (...args: never) => Answer>>,
  call: (verb: (...args: never) => Answer, args: never, name: string) => unknown,
) =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [name, (...args: never) => call(verb, args, name)]),
  )

/** The verbs of an engine that answers without waiting. */
export type AtOnce<V extends Verbs> = {
  [Name in keyof V]: (...args: Parameters<V[Name]>) => AnswerOf<V[Name]>
}

/** The verbs as the store's port has them. */
export type Asked<V extends Verbs> = {
  [Name in keyof V]: (...args: Parameters<V[Name]>) => Promise<AnswerOf<V[Name]>>
}

type AnswerOf<V> = V extends (...args: never) => Verb<infer Answer> ? Answer : never
