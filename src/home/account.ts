/** Operator accounts: a birth joins or creates one, and the console signs in to one. */

import { type ErrorCode, type ProblemExtras, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import {
  type Attempt,
  addressHashOf,
  clientOf,
  refuseGuessing,
  refusePassword,
  refuseSessions,
  SESSIONS,
} from '../pipeline/failures.ts'
import type { Account, Birth } from '../store/port/home.ts'
import type { Session } from '../store/port/sessions.ts'
import { newId } from '../uuid.ts'
import { whyGuessable } from './guessable.ts'
import type { Home } from './home.ts'
import { type Checked, decoyHash } from './passwords.ts'

/** How an e-mail address is stored and compared. */
export const addressOf = (email: string): string => email.toLowerCase()

/** Why a password for an account may be refused. */
export const PASSWORD_ERRORS = [
  'wrong_password',
  'too_many_failures',
  'too_many_wrong_passwords',
  'passwords_busy',
] as const

export interface Presented {
  readonly email: string
  readonly password: string
  /** The session of the browser, if it is signed in. */
  readonly session?: Session | undefined
}

/** Queries the store for every e-mail address, so that timing reveals nothing. */
export async function attemptBy(
  call: Call,
  home: Home,
  { email, session }: Omit<Presented, 'password'>,
): Promise<Attempt> {
  const address = addressOf(email)
  const known = await home.store.knowsAddress(addressHashOf(call, home, address))
  const client = clientOf(call, home)
  return { client, email: address, trusted: known || session?.email === address }
}

/**
 * Checked before a hash is computed, and again after waiting, because other attempts may have
 * failed in the meantime. Throws like `refuseGuessing`.
 */
async function checkedAttempt(call: Call, home: Home, presented: Presented): Promise<Checked> {
  const attempt = await attemptBy(call, home, presented)
  const check = () => refuseGuessing(call, home, attempt)
  await check()
  return { ...attempt, check }
}

/**
 * Throws `wrong_password`, or the error for too many attempts, after the same work whether the
 * account exists or not.
 */
async function accountBy(
  call: Call,
  home: Home,
  presented: Presented,
  ...refusal: [code?: ErrorCode, extras?: ProblemExtras]
): Promise<Account> {
  const attempt = await checkedAttempt(call, home, presented)
  const known = await home.store.findAccount(attempt.email)
  const hash = known?.passwordHash ?? decoyHash
  const matches = await home.passwords.verify(presented.password, hash, attempt)
  return known && matches ? known : refusePassword(call, home, attempt, ...refusal)
}

/** Throws one of `PASSWORD_ERRORS`, or `too_many_sign_ins`. */
export async function signIn(call: Call, home: Home, presented: Presented): Promise<Account> {
  const email = addressOf(presented.email)
  await refuseSessions(call, home, email)
  const account = await accountBy(call, home, presented)
  await home.budgets.take(SESSIONS, email)
  return account
}

/**
 * The account, for its correct password. Throws one of `PASSWORD_ERRORS`, or `invalid_body` with an
 * error at the form's field.
 */
export const provePassword = (
  call: Call,
  home: Home,
  presented: Presented,
  field: string,
): Promise<Account> => {
  const errors = [{ pointer: `/${field}`, message: 'is not the password of this account' }]
  return accountBy(call, home, presented, 'invalid_body', { errors })
}

async function create(call: Call, home: Home, presented: Presented): Promise<Account> {
  const attempt = await checkedAttempt(call, home, presented)
  const passwordHash = await home.passwords.hash(presented.password, attempt)
  return { id: newId(home.clock(), home.random), email: attempt.email, passwordHash }
}

/** Throws one of `PASSWORD_ERRORS`, or `invalid_body`. */
export async function accountFor(
  call: Call,
  home: Home,
  { email, password, session }: { [Field in keyof Presented]?: Presented[Field] | undefined },
): Promise<Birth['account']> {
  if (email === undefined || password === undefined) return session && { join: session.accountId }
  const presented = { email, password, session }
  const message = whyGuessable(password, addressOf(email))
  if (message) {
    // An existing account with such a password may still use it; all others get the same error, and
    // it is counted.
    const errors = [{ pointer: '/password', message }]
    return { join: (await accountBy(call, home, presented, 'invalid_body', { errors })).id }
  }
  return (await home.store.findAccount(addressOf(email)))
    ? { join: (await accountBy(call, home, presented)).id }
    : { create: await create(call, home, presented) }
}

/** The hash of a new password. Throws `invalid_body` or `passwords_busy`. */
export async function anotherPassword(
  call: Call,
  home: Home,
  { email, password }: Omit<Presented, 'session'>,
): Promise<string> {
  const message = whyGuessable(password, email)
  if (message) throw problem('invalid_body', { errors: [{ pointer: '/password', message }] })
  return home.passwords.hash(password, { client: clientOf(call, home), email, trusted: true })
}
