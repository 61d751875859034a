/** Failed authentications, counted by client address. */
import { hash } from 'node:crypto'
import type { BlockList } from 'node:net'
import { type ErrorCode, type ProblemExtras, problem } from '../errors.ts'
import { clientKey, networkOf } from '../http/address.ts'
import type { Call } from '../http/call.ts'
import { type Budgets, overBudget, showState, spend } from './budgets.ts'

/** The budget of failed authentications. */
export const FAILURES = 'failures'

/** The budgets of wrong passwords: for an account from one network, and from all of them. */
export const SIGN_INS = 'sign-ins'
export const SIGN_INS_IN_ALL = 'sign-ins-in-all'
/** And from an address that has signed in to the account before. */
export const SIGN_INS_KNOWN = 'sign-ins-known'

/** The budget of successful sign-ins. */
export const SESSIONS = 'sessions'

const HERE =
  'Too many wrong passwords for this account came from your network. Wait the number of seconds in Retry-After before you try again.'
const EVERYWHERE =
  'Too many wrong passwords for this account came from many addresses. Sign in from an address that has signed in to this account before, or wait the number of seconds in Retry-After.'

export interface Guarded {
  readonly budgets: Budgets
  readonly trustedProxies: BlockList
}

export const clientOf = (call: Call, { trustedProxies }: Pick<Guarded, 'trustedProxies'>): string =>
  clientKey(call, trustedProxies)

/** A hash of account and address, stored instead of the address itself. */
export const addressHashOf = (
  call: Call,
  deps: Pick<Guarded, 'trustedProxies'>,
  email: string,
): string => hash('sha256', `agent-home address ${email} ${clientOf(call, deps)}`, 'hex')

/** Counts the failure. Throws the given problem, or `too_many_failures`. */
export async function failAuthentication(
  call: Call,
  deps: Guarded,
  code: ErrorCode,
  extras: ProblemExtras = {},
): Promise<never> {
  spend(call, await deps.budgets.take(FAILURES, clientOf(call, deps)), 'too_many_failures')
  throw problem(code, extras)
}

/** Shows the failure budget of a client that sent no credentials. */
export async function showFailures(call: Call, deps: Guarded): Promise<void> {
  showState(call, await deps.budgets.look(FAILURES, clientOf(call, deps)))
}

/** An attempt on the password of an account, which may not exist. */
export interface Attempt {
  /** The key of the failure budget. */
  readonly client: string
  /** The normalized e-mail address. */
  readonly email: string
  /** Whether this address has signed in to the account before, or this browser is signed in. */
  readonly trusted: boolean
}

interface Counted {
  readonly budget: string
  readonly key: string
  /** The error if it is used up. */
  readonly detail: string
}

/**
 * The budgets of an attempt. Strangers share a limit per account, so that distributed guessing is
 * limited too; trusted clients are counted separately, so that strangers cannot lock them out.
 */
function countedAgainst({ client, email, trusted }: Attempt): Counted[] {
  if (trusted) return [{ budget: SIGN_INS_KNOWN, key: `${client} ${email}`, detail: HERE }]
  const network = networkOf(client) ?? client
  return [
    { budget: SIGN_INS, key: `${network} ${email}`, detail: HERE },
    { budget: SIGN_INS_IN_ALL, key: email, detail: EVERYWHERE },
  ]
}

async function refuseOver(
  call: Call,
  { budgets }: Guarded,
  { budget, key, ...extras }: Pick<Counted, 'budget' | 'key'> & ProblemExtras,
  code: ErrorCode,
): Promise<void> {
  const state = await budgets.look(budget, key)
  if (!state.allowed) throw overBudget(call, state, code, extras)
}

/**
 * Checked before a hash is computed, whether the account exists or not. Throws `too_many_failures`
 * or `too_many_wrong_passwords`.
 */
export async function refuseGuessing(call: Call, deps: Guarded, attempt: Attempt): Promise<void> {
  if (!attempt.trusted) {
    const own = { budget: FAILURES, key: attempt.client }
    await refuseOver(call, deps, own, 'too_many_failures')
  }
  for (const counted of countedAgainst(attempt)) {
    await refuseOver(call, deps, counted, 'too_many_wrong_passwords')
  }
}

/** Every sign-in costs a hash, so they are limited. Throws `too_many_sign_ins`. */
export const refuseSessions = (call: Call, deps: Guarded, email: string): Promise<void> =>
  refuseOver(call, deps, { budget: SESSIONS, key: email }, 'too_many_sign_ins')

/** Counts the failure. Throws the given problem, or `too_many_failures`. */
export async function refusePassword(
  call: Call,
  deps: Guarded,
  attempt: Attempt,
  code: ErrorCode = 'wrong_password',
  extras: ProblemExtras = {},
): Promise<never> {
  for (const { budget, key } of countedAgainst(attempt)) {
    await deps.budgets.take(budget, key)
  }
  return failAuthentication(call, deps, code, extras)
}
