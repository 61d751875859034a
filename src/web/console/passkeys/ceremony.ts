/** Passkeys on the pages: whether they are offered, the button, and where its script gets the options. */
import { isIP } from 'node:net'
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Passkey } from '../../../store/port/passkeys.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { hidden } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { ACCOUNT, SIGN_IN } from '../../layout/paths.ts'
import { forAnyone, forSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { newChallenge } from './challenge.ts'
import { creationOptions, type RelyingParty, requestOptions } from './webauthn.ts'

export type Offered =
  | { readonly party: RelyingParty }
  /** The reason, for people. */
  | { readonly why: string }

const UNKNOWN =
  'Passkeys are not available here: they belong to a domain name, and the service does not know its own. Its operator can set PUBLIC_URL.'
const ADDRESS =
  'Passkeys are not available here: they belong to a domain name, and the service was opened by an IP address.'
const INSECURE =
  'Passkeys are not available here: browsers allow them only over https, or at localhost.'

const isLocalhost = (name: string): boolean => /(^|\.)localhost$/.test(name)

export function offeredAt({ host }: Pick<Call, 'host'>, { origins }: Workspace): Offered {
  const url = URL.parse(origins.ownOrigin(host) ?? '')
  if (!url) return { why: UNKNOWN }
  const { hostname: name, origin, protocol } = url
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return { why: ADDRESS }
  if (protocol !== 'https:' && !isLocalhost(name)) return { why: INSECURE }
  return { party: { name, origin } }
}

/** Undefined if none are offered. */
export const partyAt = (call: Call, workspace: Workspace): RelyingParty | undefined => {
  const offered = offeredAt(call, workspace)
  return 'party' in offered ? offered.party : undefined
}

/** The account's passkeys for this name. */
export async function passkeysFor(
  { name }: RelyingParty,
  { accountId }: Session,
  { sessions }: Workspace,
): Promise<Passkey[]> {
  return (await sessions.listPasskeys(accountId)).filter(({ site }) => site === name)
}

interface Ceremony {
  readonly does: 'create' | 'get'
  /** The address of its options. */
  readonly asks: string
  /** The form field for the browser's response. */
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

export const PASSKEYS = `${ACCOUNT}/passkeys`

/** The addresses of the options, by purpose. */
export const ASKS = {
  signIn: `${SIGN_IN}/passkey`,
  confirm: `${PASSKEYS}/proof`,
  add: `${PASSKEYS}/new`,
} as const

/** Throws `not_found`, with the reason why none are offered. */
function partyOf(call: Call, workspace: Workspace): RelyingParty {
  const offered = offeredAt(call, workspace)
  if ('party' in offered) return offered.party
  throw problem('not_found', { detail: offered.why })
}

export const signInOptions = endpoint({
  operationId: 'consolePasskeySignInOptions',
  method: 'GET',
  path: ASKS.signIn,
  guards: forAnyone,
  errors: ['not_found', 'storage_unavailable'],
  async handle({ call }, workspace: Workspace): Promise<Answer> {
    const party = partyOf(call, workspace)
    const challenge = await newChallenge(['sign in'], workspace)
    return json(call, 200, await requestOptions(party, challenge))
  },
})

/** The options of a ceremony of the signed-in account. */
const optionsOf = (
  operationId: string,
  purpose: 'confirm' | 'add',
  options: typeof creationOptions,
) =>
  endpoint({
    operationId,
    method: 'GET',
    path: ASKS[purpose],
    guards: forSignedIn,
    errors: ['not_found'],
    async handle({ call, session }, workspace: Workspace): Promise<Answer> {
      const party = partyOf(call, workspace)
      const known = await passkeysFor(party, session, workspace)
      const challenge = await newChallenge([purpose, session.id], workspace)
      return json(call, 200, await options(party, challenge, known, session))
    },
  })

export const confirmOptions = optionsOf('consolePasskeyProofOptions', 'confirm', requestOptions)

export const addOptions = optionsOf('consoleNewPasskeyOptions', 'add', creationOptions)
