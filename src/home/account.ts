/** The operator's account: a birth joins or creates one, the browser console signs in to it. */

import { problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { retryAfter } from '../pipeline/budgets.ts'
import { clientOf, FAILURES, failAuthentication } from '../pipeline/failures.ts'
import type { Account, Birth } from '../store/port/home.ts'
import { newId } from '../uuid.ts'
import type { Home } from './home.ts'
import { SIGN_INS } from './limits.ts'
import { decoyHash, refuseCommonPassword } from './passwords.ts'

/** How an address is stored and compared. */
export const addressOf = (email: string): string => email.toLowerCase()

/** Guessing stops before a hash is computed, by client and by account, known or not. */
async function refuseGuessing(call: Call, home: Home, address: string): Promise<void> {
  const counted = [
    [FAILURES, clientOf(call, home)],
    [SIGN_INS, address],
  ] as const
  for (const [name, key] of counted) {
    const state = await home.budgets.look(name, key)
    if (!state.allowed) throw problem('too_many_failures', { headers: retryAfter(state) })
  }
}

async function refusePassword(call: Call, home: Home, address: string): Promise<never> {
  await home.budgets.take(SIGN_INS, address)
  return failAuthentication(call, home, 'wrong_password')
}

/** Throws `wrong_password`, after the same work whether the account exists or not. */
export async function signIn(
  call: Call,
  home: Home,
  email: string,
  password: string,
): Promise<Account> {
  const address = addressOf(email)
  await refuseGuessing(call, home, address)
  const known = await home.store.findAccount(address)
  const matches = await home.passwords.verify(password, known?.passwordHash ?? decoyHash)
  return known && matches ? known : refusePassword(call, home, address)
}

/** Throws `wrong_password`, `too_many_failures`, `passwords_busy` or `invalid_body`. */
export async function accountFor(
  call: Call,
  home: Home,
  { email, password }: { email?: string | undefined; password?: string | undefined },
): Promise<Birth['account']> {
  if (email === undefined || password === undefined) return undefined
  const address = addressOf(email)
  if (await home.store.findAccount(address)) {
    return { join: (await signIn(call, home, email, password)).id }
  }
  await refuseGuessing(call, home, address)
  refuseCommonPassword(password)
  const id = newId(home.clock(), home.random)
  return { create: { id, email: address, passwordHash: await home.passwords.hash(password) } }
}
