/**
 * A verb is written once, for both engines: a generator that asks one statement after the other and
 * decides by what it is answered. On SQLite it runs to its end at once; on PostgreSQL each question
 * is a round trip. As a generator it can wait for nothing else, so no transaction is held for it.
 */

export type Value = string | number | boolean | null | undefined

/**
 * SQL of both engines, its parameters as `$1`. `name`: unique; PostgreSQL parses the statement once
 * under it on each connection; without a name, each time.
 */
export interface Statement<Row> {
  readonly name: string
  readonly text: string
  /** Never there: it carries the type of a row. */
  readonly row?: Row
}

const declared = new Map<string, string>()

/** Throws where another statement has the name: a connection that knows one refuses the other. */
export function statement<Row = never>(name: string, text: string): Statement<Row> {
  const other = declared.get(name)
  if (name !== '' && other !== undefined && other !== text) {
    throw new Error(`two statements are named ${name}`)
  }
  declared.set(name, text)
  return { name, text }
}

export interface Question {
  readonly statement: Statement<unknown>
  readonly values: readonly Value[]
}

export type Verb<Answer> = Generator<Question, Answer, readonly unknown[]>

/** The rows of a statement, within the verb's transaction. */
export function* ask<Row>(
  statement: Statement<Row>,
  ...values: readonly Value[]
): Verb<readonly Row[]> {
  return (yield { statement, values }) as readonly Row[]
}

/** Verbs by their names. */
export type Verbs = Readonly<Record<string, (...args: never) => Verb<unknown>>>

/** As an engine that answers at once runs them. */
export type AtOnce<V extends Verbs> = {
  [Name in keyof V]: (...args: Parameters<V[Name]>) => AnswerOf<V[Name]>
}

/** As the store's port has them. */
export type Asked<V extends Verbs> = {
  [Name in keyof V]: (...args: Parameters<V[Name]>) => Promise<AnswerOf<V[Name]>>
}

type AnswerOf<V> = V extends (...args: never) => Verb<infer Answer> ? Answer : never
