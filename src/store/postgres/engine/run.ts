/** Runs verbs, one round trip per question. */
import type { Asked, Verb, Verbs } from '../../verbs/verb.ts'
import type { Ask, Connections } from './connections.ts'

export async function run<T>(ask: Ask, verb: Verb<T>): Promise<T> {
  let step = verb.next([])
  while (!step.done) {
    const { statement, values } = step.value
    step = verb.next(await ask(statement, ...values))
  }
  return step.value
}

function each<V extends Verbs>(verbs: V, start: <T>(begin: () => Verb<T>) => Promise<T>): Asked<V> {
  const started = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...args: never) => start(() => verb(...args)),
  ])
  return Object.fromEntries(started)
}

/** Each statement on its own. */
export const readVerbs = <V extends Verbs>({ read }: Connections, verbs: V): Asked<V> =>
  each(verbs, (begin) => run(read, begin()))

/** Each verb in a transaction, which may be retried. */
export const writeVerbs = <V extends Verbs>({ change }: Connections, verbs: V): Asked<V> =>
  each(verbs, (begin) => change((ask) => run(ask, begin())))
