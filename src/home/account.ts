/** The operator's account: a birth joins or creates one, the browser console signs in to it. */

import type { Call } from '../http/call.ts'
import { refuseGuessing, refusePassword } from '../pipeline/failures.ts'
import type { Account, Birth } from '../store/port/home.ts'
import { newId } from '../uuid.ts'
import type { Home } from './home.ts'
import { whyGuessable } from './passwords/guessable.ts'
import { decoyHash } from './passwords/passwords.ts'

/** How an address is stored and compared. */
export const addressOf = (email: string): string => email.toLowerCase()

/** The account, after the same work whether it exists or not; undefined when the password is wrong. */
async function tryPassword(
  call: Call,
  home: Home,
  address: string,
  password: string,
): Promise<Account | undefined> {
  await refuseGuessing(call, home, address)
  const known = await home.store.findAccount(address)
  const matches = await home.passwords.verify(password, known?.passwordHash ?? decoyHash)
  return matches ? known : undefined
}

/** Throws `wrong_password` or `too_many_failures`. */
export async function signIn(
  call: Call,
  home: Home,
  email: string,
  password: string,
): Promise<Account> {
  const address = addressOf(email)
  const account = await tryPassword(call, home, address, password)
  return account ?? refusePassword(call, home, address)
}

/**
 * Whoever has a guessable password may still use it; everybody else is told the same after the same
 * work, and counted, whether the account exists or not.
 */
async function joinByGuessable(
  call: Call,
  home: Home,
  [address, password]: readonly [string, string],
  message: string,
): Promise<Account> {
  const account = await tryPassword(call, home, address, password)
  const errors = [{ pointer: '/password', message }]
  return account ?? refusePassword(call, home, address, 'invalid_body', { errors })
}

/** Throws `wrong_password`, `too_many_failures`, `passwords_busy` or `invalid_body`. */
export async function accountFor(
  call: Call,
  home: Home,
  { email, password }: { email?: string | undefined; password?: string | undefined },
): Promise<Birth['account']> {
  if (email === undefined || password === undefined) return undefined
  const address = addressOf(email)
  const why = whyGuessable(password, address)
  if (why) return { join: (await joinByGuessable(call, home, [address, password], why)).id }
  if (await home.store.findAccount(address)) {
    return { join: (await signIn(call, home, email, password)).id }
  }
  await refuseGuessing(call, home, address)
  const id = newId(home.clock(), home.random)
  return { create: { id, email: address, passwordHash: await home.passwords.hash(password) } }
}
