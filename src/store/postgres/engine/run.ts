/** Runs verbs, one round trip per question. */
import { type Asked, mapVerbs, type Verb, type Verbs } from '../../verbs/verb.ts'
import type { Ask, Connections } from './connections.ts'

export async function run<T>(ask: Ask, verb: Verb<T>): Promise<T> {
  let step = verb.next([])
  while (!step.done) {
    const { statement, values } = step.value
    step = verb.next(await ask(statement, ...values))
  }
  return step.value
}

/** Each statement on its own. */
export const readVerbs = <V extends Verbs>({ read }: Connections, verbs: V): Asked<V> =>
  mapVerbs(verbs, (verb, args) => run(read, verb(...args))) as Asked<V>

/** Each verb in a transaction, which may be retried. */
export const writeVerbs = <V extends Verbs>({ change }: Connections, verbs: V): Asked<V> =>
  mapVerbs(verbs, (verb, args) => change((ask) => run(ask, verb(...args)))) as Asked<V>
