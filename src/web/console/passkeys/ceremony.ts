/** The button that starts a passkey ceremony, and GET …/passkey, where its script gets the options. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { hidden } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { ACCOUNT, SIGN_IN } from '../../layout/paths.ts'
import { forAnyone, forSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { newChallenge, type Purpose } from './challenge.ts'
import { offeredAt, type RelyingParty } from './relying-party.ts'
import { creationOptions, requestOptions } from './webauthn.ts'

interface Ceremony {
  readonly does: 'create' | 'get'
  /** Where its options are asked for. */
  readonly asks: string
  /** The field of the form that takes what the browser answers. */
  readonly field: string
  readonly label: string
  readonly quiet?: boolean
}

export const ceremony = ({ does, asks, field, label, quiet }: Ceremony): Html => html`<div
class="passkey" data-passkey="${does}" data-asks="${asks}" hidden>
${hidden(field, '')}
<button type="button"${quiet ? html` class="quiet"` : ''}>${label}</button>
<p class="hint" role="status"></p>
</div>`

/** In its place, where there is no script or the browser has no passkeys. */
export const withoutThem = (words: string): Html => html`<p data-without-passkeys>${words}</p>`

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
