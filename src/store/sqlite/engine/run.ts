/** Runs reads and verbs on a connection, each to its end without waiting. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { inNextTurn } from '../../../turns.ts'
import {
  type Asked,
  type AtOnce,
  mapVerbs,
  type Question,
  type Verb,
  type Verbs,
} from '../../verbs/verb.ts'
import { prepare, type Statement, translate } from './connection.ts'

/** There is only one writing connection, so row locks are not needed. */
const LOCK = / FOR (?:UPDATE|SHARE)(?: SKIP LOCKED)?(?=\)?$)/

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
      ...values.map((value) =>
        typeof value === 'boolean' ? +value : ((value as SQLInputValue) ?? null),
      ),
    )
  }
}

/** A part of a verb that this engine implements itself. */
// biome-ignore lint/correctness/useYield: it asks nothing
export function* atOnce<Answer>(work: () => Answer): Verb<Answer> {
  return work()
}

/** In the caller's transaction. */
export function prepareVerbs<V extends Verbs>(db: DatabaseSync, verbs: V): AtOnce<V> {
  const answer = prepareAnswer(db)
  function run(verb: Verb<unknown>): unknown {
    let step = verb.next([])
    while (!step.done) step = verb.next(answer(step.value))
    return step.value
  }
  return mapVerbs(verbs, (verb, args) => run(verb(...args))) as AtOnce<V>
}

interface Waiting {
  readonly read: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads of one event loop turn share a snapshot and are answered together. It is taken after the
 * last read was requested, so none is out of date.
 */
export function groupReads(db: DatabaseSync) {
  const begin = prepare(db, 'BEGIN')
  const end = prepare(db, 'COMMIT')
  let waiting: Waiting[] = []
  let asked = 0

  function answer({ read, resolve, reject }: Waiting): void {
    try {
      resolve(read())
    } catch (error) {
      reject(translate(error))
    }
  }

  function answerAll(): void {
    const group = waiting
    waiting = []
    try {
      begin.run()
    } catch (error) {
      for (const { reject } of group) reject(translate(error))
      return
    }
    group.forEach(answer)
    // A storage error may have ended it already.
    if (db.isTransaction) end.run()
  }

  return {
    read<T>(read: () => T): Promise<T> {
      asked++
      if (waiting.length === 0) inNextTurn(answerAll)
      return new Promise((resolve, reject) => {
        waiting.push({ read, resolve: resolve as (value: unknown) => void, reject })
      })
    },
    /** The number of reads so far. */
    asked: () => asked,
  }
}

/** Together with the other reads of the turn. */
export function readVerbs<V extends Verbs>(
  db: DatabaseSync,
  verbs: V,
  read: ReturnType<typeof groupReads>['read'],
): Asked<V> {
  return mapVerbs<unknown>(prepareVerbs(db, verbs), (verb, args) =>
    read(() => verb(...args)),
  ) as Asked<V>
}
