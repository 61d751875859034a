/** Credentials that were presented in vain, counted against the client's address. */
import { hash } from 'node:crypto'
import type { BlockList } from 'node:net'
import { type ErrorCode, type ProblemExtras, problem } from '../errors.ts'
import { clientKey } from '../http/address.ts'
import type { Call } from '../http/call.ts'
import { type Budgets, retryAfter, showState } from './budgets.ts'

/** The budget of failed authentications. */
export const FAILURES = 'failures'

/** The budget of wrong passwords for one account. */
export const SIGN_INS = 'sign-ins'

export interface Guarded {
  readonly budgets: Budgets
  readonly trustedProxies: BlockList
}

export const clientOf = (call: Call, { trustedProxies }: Pick<Guarded, 'trustedProxies'>): string =>
  clientKey(call, trustedProxies)

/** Names a client to one account alone: kept, where an address is not. */
export const addressHashOf = (
  call: Call,
  deps: Pick<Guarded, 'trustedProxies'>,
  email: string,
): string => hash('sha256', `agent-home address ${email} ${clientOf(call, deps)}`, 'hex')

/** Throws the problem that it is given, or `too_many_failures`. */
export async function failAuthentication(
  call: Call,
  deps: Guarded,
  code: ErrorCode,
  extras: ProblemExtras = {},
): Promise<never> {
  const state = await deps.budgets.take(FAILURES, clientOf(call, deps))
  showState(call, state)
  if (!state.allowed) throw problem('too_many_failures', { headers: retryAfter(state) })
  throw problem(code, extras)
}

/** Where the client stands, for one that presented nothing. */
export async function showFailures(call: Call, deps: Guarded): Promise<void> {
  showState(call, await deps.budgets.look(FAILURES, clientOf(call, deps)))
}

/** Guessing stops before a hash is computed, by client and by account, known or not. */
export async function refuseGuessing(call: Call, deps: Guarded, address: string): Promise<void> {
  const counted = [
    [FAILURES, clientOf(call, deps)],
    [SIGN_INS, address],
  ] as const
  for (const [name, key] of counted) {
    const state = await deps.budgets.look(name, key)
    if (!state.allowed) throw problem('too_many_failures', { headers: retryAfter(state) })
  }
}

/** Throws the problem that it is given, or `too_many_failures`. */
export async function refusePassword(
  call: Call,
  deps: Guarded,
  address: string,
  code: ErrorCode = 'wrong_password',
  extras: ProblemExtras = {},
): Promise<never> {
  await deps.budgets.take(SIGN_INS, address)
  return failAuthentication(call, deps, code, extras)
}
