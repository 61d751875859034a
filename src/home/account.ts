/** The operator's account that a birth joins or creates. It serves the browser console alone. */
import { v7 as uuidv7 } from 'uuid'
import { problem } from '../errors.ts'
import { retryAfter } from '../http/budgets.ts'
import type { Call } from '../http/call.ts'
import type { Birth } from '../store/port.ts'
import { clientOf, failAuthentication } from './endpoint.ts'
import type { Home } from './home.ts'
import { refuseCommonPassword } from './passwords.ts'

/** Guessing stops before a hash is computed. */
async function refuseGuessing(call: Call, home: Home): Promise<void> {
  const standing = await home.budgets.look('failures', clientOf(call, home))
  if (!standing.allowed) throw problem('too_many_failures', { headers: retryAfter(standing) })
}

/** Throws `wrong_password`, `too_many_failures`, `passwords_busy` or `invalid_body`. */
export async function accountFor(
  call: Call,
  home: Home,
  { email, password }: { email?: string | undefined; password?: string | undefined },
): Promise<Birth['account']> {
  if (email === undefined || password === undefined) return undefined
  await refuseGuessing(call, home)
  const address = email.toLowerCase()
  const known = await home.store.findAccount(address)
  if (!known) {
    refuseCommonPassword(password)
    const id = uuidv7({ msecs: home.clock(), random: home.random(16) })
    return { create: { id, email: address, passwordHash: await home.passwords.hash(password) } }
  }
  if (await home.passwords.verify(password, known.passwordHash)) return { join: known.id }
  return failAuthentication(call, home, 'wrong_password')
}
