/** Runs verbs on a connection, each to its end without waiting, in the caller's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Asked, AtOnce, Question, Verb, Verbs } from '../../verbs/verb.ts'
import { prepare, type Statement } from './connection.ts'
import type { groupReads } from './reader.ts'
import type { Writer } from './writer.ts'

/** There is only one writing connection, so row locks are not needed. */
const LOCK = / FOR (?:UPDATE|SHARE)$/

const inSqlite = (text: string): string => text.replaceAll('$', '?').replace(LOCK, '')

function prepareAnswer(db: DatabaseSync) {
  const prepared = new Map<string, Statement<unknown>>()
  return ({ statement: { name, text }, values }: Question): readonly unknown[] => {
    let found = prepared.get(name)
    if (!found) {
      found = prepare<unknown>(db, inSqlite(text))
      prepared.set(name, found)
    }
    return found.all(
      ...values.map((value) => (typeof value === 'boolean' ? +value : (value ?? null))),
    )
  }
}

/** A part of a verb that this engine implements itself. */
// biome-ignore lint/correctness/useYield: it asks nothing
export function* atOnce<Answer>(work: () => Answer): Verb<Answer> {
  return work()
}

type Run = (...args: never) => unknown

const mapped = (verbs: Verbs, runOf: (name: string, verb: Verbs[string]) => Run) =>
  Object.fromEntries(Object.entries(verbs).map(([name, verb]) => [name, runOf(name, verb)]))

export function prepareVerbs<V extends Verbs>(db: DatabaseSync, verbs: V): AtOnce<V> {
  const answer = prepareAnswer(db)
  function run(verb: Verb<unknown>): unknown {
    let step = verb.next([])
    while (!step.done) step = verb.next(answer(step.value))
    return step.value
  }
  return mapped(
    verbs,
    (_, verb) =>
      (...args) =>
        run(verb(...args)),
  ) as AtOnce<V>
}

/** Together with the other reads of the turn. */
export function readVerbs<V extends Verbs>(
  db: DatabaseSync,
  verbs: V,
  read: ReturnType<typeof groupReads>['read'],
): Asked<V> {
  const atOnce: Readonly<Record<string, Run>> = prepareVerbs(db, verbs)
  return mapped(
    verbs,
    (name) =>
      (...args) =>
        read(() => atOnce[name]?.(...args)),
  ) as Asked<V>
}

/** Sent to the writer thread, which has them under the same names. */
export function submitVerbs<V extends Verbs>(verbs: V, submit: Writer['submit']): Asked<V> {
  const send = submit as unknown as (name: string, ...args: never) => Promise<unknown>
  return mapped(
    verbs,
    (name) =>
      (...args) =>
        send(name, ...args),
  ) as Asked<V>
}
