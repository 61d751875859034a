/** The operator's account: a birth joins or creates one, the browser console signs in to it. */

import type { Call } from '../http/call.ts'
import { refuseGuessing, refusePassword } from '../pipeline/failures.ts'
import type { Account, Birth } from '../store/port/home.ts'
import { newId } from '../uuid.ts'
import type { Home } from './home.ts'
import { decoyHash, refuseCommonPassword } from './passwords/passwords.ts'

/** How an address is stored and compared. */
export const addressOf = (email: string): string => email.toLowerCase()

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
