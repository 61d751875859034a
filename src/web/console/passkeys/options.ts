/** GET …/passkey: what a page's script hands to the browser, made when the button is pressed. */
import { problem } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { ACCOUNT, SIGN_IN } from '../../layout/paths.ts'
import { forAnyone, forSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { creationOptions, requestOptions } from './asked.ts'
import { newChallenge, type Purpose } from './challenge.ts'
import { offeredAt, type RelyingParty } from './relying-party.ts'

export const PASSKEYS = `${ACCOUNT}/passkeys`

/** Where each ceremony asks. */
export const ASKS = {
  signIn: `${SIGN_IN}/passkey`,
  confirm: `${PASSKEYS}/proof`,
  add: `${PASSKEYS}/new`,
} as const

/** Throws `not_found`, which says why none are offered. */
function partyOf(call: Call, workspace: Workspace): RelyingParty {
  const offered = offeredAt(call, workspace)
  if ('party' in offered) return offered.party
  throw problem('not_found', { detail: offered.why })
}

async function challengeFor(purpose: Purpose, { challengeKey, clock, random }: Workspace) {
  return newChallenge(await challengeKey(), purpose, clock(), random)
}

/** Of the account, for this name. */
async function passkeysOf({ accountId }: Session, { name }: RelyingParty, { sessions }: Workspace) {
  return (await sessions.listPasskeys(accountId)).filter(({ site }) => site === name)
}

export const signInOptions = endpoint({
  operationId: 'consolePasskeySignInOptions',
  method: 'GET',
  path: ASKS.signIn,
  guards: forAnyone,
  errors: ['not_found', 'storage_unavailable'],
  async handle({ call }, workspace: Workspace): Promise<Answer> {
    const party = partyOf(call, workspace)
    const challenge = await challengeFor(['sign in'], workspace)
    return json(call, 200, await requestOptions(party, challenge))
  },
})

export const confirmOptions = endpoint({
  operationId: 'consolePasskeyProofOptions',
  method: 'GET',
  path: ASKS.confirm,
  guards: forSignedIn,
  errors: ['not_found'],
  async handle({ call, session }, workspace: Workspace): Promise<Answer> {
    const party = partyOf(call, workspace)
    const had = await passkeysOf(session, party, workspace)
    const challenge = await challengeFor(['confirm', session.id], workspace)
    return json(call, 200, await requestOptions(party, challenge, had))
  },
})

export const addOptions = endpoint({
  operationId: 'consoleNewPasskeyOptions',
  method: 'GET',
  path: ASKS.add,
  guards: forSignedIn,
  errors: ['not_found'],
  async handle({ call, session }, workspace: Workspace): Promise<Answer> {
    const party = partyOf(call, workspace)
    const had = await passkeysOf(session, party, workspace)
    const challenge = await challengeFor(['add', session.id], workspace)
    return json(call, 200, await creationOptions(party, session, challenge, had))
  },
})
