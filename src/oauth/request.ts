/**
 * A client's request for access, from its address alone: nothing is kept of it until its operator
 * decides, so that strangers leave nothing behind, and any node can go on where another began.
 */
import { problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { clientOf } from '../pipeline/failures.ts'
import type { Access, KeyClient } from '../store/port/identity.ts'
import type { Grant } from '../store/port/oauth.ts'
import type { Kept } from './adapter.ts'
import { grantId, lasting, type OAuth, paths, recordHash, SCOPES } from './oauth.ts'

/** What of the address matters; anything else is ignored (RFC 6749, section 3.1). */
const PARAMETERS = new Set([
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'resource',
  'code_challenge',
  'code_challenge_method',
  'prompt',
])

const known = (scope: string | null): string =>
  (scope ?? '')
    .split(' ')
    .filter((each) => SCOPES.some((ours) => ours === each))
    .join(' ')

/** A repeated parameter is refused, and two show it as well as a thousand: those took 37 ms. */
const MOST_OF_A_NAME = 2

/** Of a request, which a form may bring along as well as an address. */
const MOST_CHARS = 16_384

/** Not valid, and where it would lead cannot be trusted. */
const invalid = (why: string | undefined) =>
  problem('authorization_invalid', {
    detail: `The program that sent you here is not set up correctly${why ? `: ${why}` : ''}. Nothing was permitted. Go back to it, and add this home again.`,
  })

/** A document is kept under its address, so that is written in one way. */
function requireOneSpelling(clientId: string): void {
  const isOther = /^https:/i.test(clientId) && URL.parse(clientId)?.href !== clientId
  if (isOther) throw invalid('its client_id is not written as an address is')
}

/** A client that names no scope of ours asks for all. Throws `authorization_invalid`. */
function queryOf(search: string): URLSearchParams {
  if (search.length > MOST_CHARS) throw invalid('its request is too long')
  const query = new URLSearchParams()
  const all = new URLSearchParams(search)
  requireOneSpelling(all.get('client_id') ?? '')
  for (const name of PARAMETERS) {
    for (const value of all.getAll(name).slice(0, MOST_OF_A_NAME)) query.append(name, value)
  }
  if (query.getAll('scope').length <= 1) {
    query.set('scope', known(query.get('scope')) || SCOPES.join(' '))
  }
  return query
}

/** A valid request that waits for its operator. */
export interface Pending {
  readonly issuer: string
  readonly client: KeyClient & { readonly name: string }
  /** Where its user is sent back to. */
  readonly redirectUri: string
  /** At most. */
  readonly access: Access
  readonly kept: Kept
  readonly uid: string
}

type Considered =
  | { readonly outcome: 'pending'; readonly pending: Pending }
  /** The address at the client that tells it what is wrong. */
  | { readonly outcome: 'fault'; readonly location: string }

function refuse(text: string): never {
  const { error_description: why } = JSON.parse(text || '{}') as { error_description?: string }
  throw invalid(why)
}

function undecided(kept: Kept) {
  const found = [...kept].find(([place]) => place.startsWith('Interaction '))
  if (!found) throw new Error('the request was not kept')
  const [place, payload] = found
  return { payload, uid: place.slice('Interaction '.length) }
}

/** Throws `authorization_invalid`. */
export async function consider(
  call: Call,
  oauth: OAuth,
  issuer: string,
  search: string,
): Promise<Considered> {
  const kept: Kept = new Map()
  const provider = await oauth.provider(issuer)
  const target = `${paths.authorize}?${queryOf(search)}`
  const asked = { method: 'GET', target, kept, client: clientOf(call, oauth) } as const
  const { location, text } = await provider.ask(asked)
  if (location === undefined) return refuse(text)
  if (location !== paths.consent) return { outcome: 'fault', location }
  const { uid, payload } = undecided(kept)
  const { client_id = '', redirect_uri = '', scope = '' } = payload.params as Record<string, string>
  const client = await provider.findClient(client_id)
  const { host } = new URL(redirect_uri)
  const isUrl = client_id.startsWith('https://')
  return {
    outcome: 'pending',
    pending: {
      issuer,
      client: {
        id: client_id,
        name: client?.clientName ?? (isUrl ? new URL(client_id).host : host),
        redirectHost: host,
      },
      redirectUri: redirect_uri,
      access: scope.split(' ').includes('memory:write') ? 'write' : 'read',
      kept,
      uid,
    },
  }
}

type Result = Readonly<Record<string, unknown>>

/** The address at the client where the answer is. */
async function conclude(
  call: Call,
  oauth: OAuth,
  { issuer, kept, uid }: Pending,
  result: Result,
): Promise<string> {
  Object.assign(undecided(kept).payload, { result })
  const { ask } = await oauth.provider(issuer)
  const { location, text } = await ask({
    method: 'GET',
    target: `${paths.authorize}/${uid}`,
    headers: { cookie: `_interaction_resume=${uid}` },
    kept,
    client: clientOf(call, oauth),
  })
  return location ?? refuse(text)
}

/** A client stays known while its grant lasts, even if its document cannot be read any more. */
async function keepDocument(oauth: OAuth, { issuer, client: { id } }: Pending): Promise<void> {
  if (!id.startsWith('https://')) return
  const expiresAt = oauth.clock() + lasting.grant + lasting.registration
  const known = await (await oauth.provider(issuer)).findClient(id)
  const payload = JSON.stringify(known?.metadata())
  const kind = 'ClientDocument'
  const record = { idHash: recordHash(kind, id), kind, payload, expiresAt }
  await oauth.records.keepRecord(record, oauth.clock())
}

/** The grant is the key that was made for it. */
export async function permit(
  call: Call,
  oauth: OAuth,
  pending: Pending,
  grant: Grant,
): Promise<string> {
  await keepDocument(oauth, pending)
  return conclude(call, oauth, pending, {
    login: { accountId: grant.agentId, remember: false },
    select_account: {},
    consent: { grantId: grantId(grant) },
  })
}

export const decline = (call: Call, oauth: OAuth, pending: Pending): Promise<string> =>
  conclude(call, oauth, pending, {
    error: 'access_denied',
    error_description: 'the operator did not permit it',
  })
