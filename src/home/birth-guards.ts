/** What a birth is asked before its body is read, and what is refused after it. */
import { problem } from '../errors.ts'
import { failAuthentication, type Guarded } from '../pipeline/failures.ts'
import type { Guard } from '../pipeline/guard.ts'
import { isOwnKey, wasPrinted } from './birth-key.ts'
import type { Home } from './home.ts'

/** Throws `births_disabled`. Not in front of a replay: that one was born when they were open. */
export function refuseWhileClosed({ birthsEnabled }: Pick<Home, 'birthsEnabled'>): void {
  if (!birthsEnabled) throw problem('births_disabled')
}

export const birthsOpen: Guard<Pick<Home, 'birthsEnabled'>, object, void> = {
  name: 'births-open',
  errors: ['births_disabled'],
  run: (_, home) => refuseWhileClosed(home),
}

const PRINTED = {
  detail:
    'This key was printed in our documentation, so others know it. Generate your own: 32 random bytes as 64 lowercase hex characters.',
}

/** The credential of a birth; one that is malformed counts as a failed authentication. */
export const idempotencyKey: Guard<Guarded, object, { readonly key: string }> = {
  name: 'idempotency-key',
  errors: ['invalid_idempotency_key', 'too_many_failures'],
  run({ call }, home) {
    const key = call.requestHeaders['idempotency-key']
    if (key === undefined) throw problem('invalid_idempotency_key')
    return isOwnKey(key)
      ? { key }
      : failAuthentication(call, home, 'invalid_idempotency_key', wasPrinted(key) ? PRINTED : {})
  },
}
