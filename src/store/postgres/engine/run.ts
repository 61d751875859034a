/** Runs verbs, one round trip per question. */
import { type Asked, mapVerbs, type Verb, type Verbs } from '../../verbs/verb.ts'
import type { Connections } from './connections.ts'
import type { Ask } from './session.ts'

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

type After = (ask: Ask, first: never) => Promise<void>

/** Each verb in a transaction, which may be retried. `after`: at its end, with its first argument. */
export const writeVerbs = <V extends Verbs>(
  { change }: Connections,
  verbs: V,
  after: After = async () => {},
): Asked<V> =>
  mapVerbs(verbs, (verb, args) =>
    change(async (ask) => {
      const answer = await run(ask, verb(...args))
      await after(ask, args[0])
      return answer
    }),
  ) as Asked<V>
