/** A passkey proves the owner of an account, like its password. */
import { hash } from 'node:crypto'
import { attemptBy } from '../../../home/account.ts'
import type { Call } from '../../../http/call.ts'
import {
  refuseGuessing,
  refusePassword,
  refuseSessions,
  SESSIONS,
} from '../../../pipeline/failures.ts'
import type { Account } from '../../../store/port/home.ts'
import type { FoundPasskey } from '../../../store/port/passkeys.ts'
import type { Session } from '../../../store/port/sessions.ts'
import type { Workspace } from '../workspace.ts'
import { partyAt } from './ceremony.ts'
import { acceptFor, type Purpose } from './challenge.ts'
import { type Assertion, assertionIn, verifyAssertion } from './webauthn.ts'

/** Why a passkey may be refused. */
export const PASSKEY_ERRORS = [
  'passkey_refused',
  'too_many_failures',
  'too_many_wrong_passwords',
] as const

interface Fault {
  /** There may be a copy of the passkey. Its holder is told, since the signature was valid. */
  readonly isCopied: boolean
  readonly cause?: unknown
}

const invalid = (cause?: unknown): Fault => ({ isCopied: false, cause })

interface Presented {
  readonly given: Assertion
  readonly passkey: FoundPasskey
}

/** Undefined if the response is valid; its challenge is then used up. */
async function faultOf(
  call: Call,
  workspace: Workspace,
  purpose: Purpose,
  presented: Presented | undefined,
): Promise<Fault | undefined> {
  const party = partyAt(call, workspace)
  if (!presented) return invalid()
  const { given, passkey } = presented
  if (!party) return invalid('none are offered here')
  // A sign-in asks for no account, so the response names the one that was chosen.
  const isNamed = given.response.userHandle !== undefined
  if (purpose[0] === 'sign in' && !isNamed) return invalid('no account was named')
  const accept = await acceptFor(purpose, workspace)
  const proof = await verifyAssertion(party, given, passkey, accept).catch(invalid)
  if ('isCopied' in proof) return proof
  const use = { id: passkey.id, ...proof }
  const { outcome } = await workspace.sessions.usePasskey(use, workspace.clock())
  return outcome === 'used' ? undefined : { isCopied: outcome === 'stale' }
}

/** `id`: of the passkey, which may be unknown; '' if the text is malformed. */
async function presentedIn(text: string, { sessions }: Workspace) {
  const given = assertionIn(text)
  const passkey = given && (await sessions.findPasskey(given.id))
  return { id: given?.id ?? '', presented: passkey && { given, passkey } }
}

/** Failures are counted like wrong passwords. */
async function attemptFor(
  call: Call,
  workspace: Workspace,
  asked: { readonly email: string; readonly session: Session | undefined },
) {
  const attempt = await attemptBy(call, workspace, asked)
  await refuseGuessing(call, workspace, attempt)
  return attempt
}

const COPIED =
  'You are not signed in: the counter of this passkey did not increase, so there may be a copy of it. Sign in with the password, and remove the passkey unless its device was restored from a backup.'

/** Throws one of `PASSKEY_ERRORS`, or `too_many_sign_ins`. */
export async function signInByPasskey(
  call: Call,
  workspace: Workspace,
  text: string,
  session: Session | undefined,
): Promise<Pick<Account, 'id' | 'email'>> {
  const { id, presented } = await presentedIn(text, workspace)
  // Failures with an unknown passkey are counted against its id.
  const email = presented?.passkey.email ?? hash('sha256', id, 'hex')
  await refuseSessions(call, workspace, email)
  const attempt = await attemptFor(call, workspace, { email, session })
  const fault = await faultOf(call, workspace, ['sign in'], presented)
  if (fault || !presented) {
    const { cause, isCopied } = fault ?? invalid()
    const extras = { cause, ...(isCopied && { detail: COPIED }) }
    return refusePassword(call, workspace, attempt, 'passkey_refused', extras)
  }
  await workspace.budgets.take(SESSIONS, email)
  return { id: presented.passkey.accountId, email }
}

const messageOf = ({ isCopied }: Fault): string =>
  isCopied
    ? 'passkey did not count up, so there may be a copy of it: use the password'
    : 'passkey is not accepted: nothing was done'

/** Throws one of `PASSKEY_ERRORS`, or `invalid_body` with an error at the form's field. */
export async function provePasskey(
  call: Call,
  workspace: Workspace,
  session: Session,
  { text, field }: { readonly text: string; readonly field: string },
): Promise<void> {
  const { presented } = await presentedIn(text, workspace)
  const isTheirs = presented?.passkey.accountId === session.accountId
  const attempt = await attemptFor(call, workspace, { email: session.email, session })
  const purpose = ['confirm', session.id] as const
  const fault = await faultOf(call, workspace, purpose, isTheirs ? presented : undefined)
  if (!fault) return
  const errors = [{ pointer: `/${field}`, message: messageOf(fault) }]
  await refusePassword(call, workspace, attempt, 'invalid_body', { cause: fault.cause, errors })
}
