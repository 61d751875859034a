/** What an erasure waits for on either engine. */
import type { Identity } from '../port/identity.ts'
import { mapVerbs } from './verb.ts'

/** Verbs that return when no file and no index has what they erased, which `forget` waits for. */
export const erasing = <
  V extends Readonly<Record<string, (...args: never) => Promise<{ readonly outcome: string }>>>,
>(
  forget: (agentId: string) => Promise<unknown>,
  verbs: V,
): V =>
  mapVerbs(verbs, async (verb, args: readonly [Identity]) => {
    const answer = await verb(...(args as never))
    if (answer.outcome === 'erased') await forget(args[0].agentId)
    return answer
  }) as V
