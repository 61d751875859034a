/** /console/consent: a client asks to be let in by OAuth, and the operator decides. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { giveBirthTo } from '../../home/birth.ts'
import { cutName, grantKey } from '../../home/keys.ts'
import { memoryKey } from '../../home/schemas.ts'
import { type Answer, type Call, redirect } from '../../http/call.ts'
import type { Fields } from '../../http/form.ts'
import { offered, perAddress } from '../../oauth/guards.ts'
import { lasting, paths } from '../../oauth/oauth.ts'
import { consider, decline, type Pending, permit } from '../../oauth/request.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { announce } from '../../pipeline/guards/budget.ts'
import { again, type Sent } from '../../pipeline/guards/form.ts'
import { ownerOf } from '../../pipeline/guards/session.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { characters } from '../../pipeline/schemas.ts'
import { validateBody } from '../../pipeline/validate.ts'
import { dayOf } from '../../store/port/activity.ts'
import type { Identity } from '../../store/port/identity.ts'
import { hidden, input, refusalNote, select, type Typed } from '../layout/fields.ts'
import { type Html, showPage } from '../layout/page.ts'
import { proof, recentSignIn } from './account/recent-sign-in.ts'
import { DAY_MS } from './agent/filters.ts'
import { showFault } from './authorize.ts'
import { takeTurn, turnField } from './form-once.ts'
import { formForSignedIn, forSignedIn, withInput } from './guards.ts'
import type { Visit, Workspace } from './workspace.ts'

const NEW = 'new'
const MOST_AGENTS = 100

const PASSWORD = 'password'

const isAllowed = ({ decision }: Fields): boolean => decision === 'allow'

const access = [
  { value: 'write', label: 'Read and write' },
  { value: 'read', label: 'Read' },
] as const

/** In days; 0: as long as it is used. */
const ends = [
  { value: '0', label: 'Until 90 days pass without use' },
  { value: '1', label: 'For a day' },
  { value: '30', label: 'For 30 days' },
  { value: '365', label: 'For a year' },
] as const

/** Where the client sends its user back to is all that is known for sure. */
function who({ client, redirectUri }: Pending): Html {
  // Clients elsewhere have https.
  const isHere = redirectUri.startsWith('http:')
  const back = isHere
    ? html`It runs on <strong>the device that you are using</strong> (<code>${client.redirectHost}</code>).`
    : html`It sends you back to <strong>${client.redirectHost}</strong>.`
  const own = client.id.startsWith('https://')
    ? html`It is described at <code class="words">${client.id}</code>.`
    : html`Nobody has checked its name.`
  return html`<p class="lead"><strong><bdi>${client.name}</bdi></strong> asks to keep memories here. ${back}</p>
<p class="dim">${own} Allow it only if you have just started this there.</p>`
}

async function homes({ session }: Visit, { sessions, clock }: Workspace) {
  const page = { after: undefined, limit: MOST_AGENTS }
  const found = await sessions.listAgents(session.accountId, page, dayOf(clock()))
  const own = found.map(({ profile }) => ({ value: profile.agentId, label: profile.name }))
  return [...own, { value: NEW, label: 'A new home' }]
}

async function form(
  visit: Visit,
  workspace: Workspace,
  pending: Pending,
  { values, refusal }: Typed,
): Promise<Html> {
  const choices = await homes(visit, workspace)
  const typed = { values: { name: cutName(pending.client.name), ...values }, refusal }
  const may = pending.access === 'read' ? access.slice(1) : access
  return html`<form method="post" action="${paths.consent}" class="stack">
${hidden('request', values.request ?? visit.call.search)}${await turnField(visit, workspace)}
${select({ name: 'home', label: 'Home', choices }, typed)}
<div class="newborn">${input({ name: 'name', label: 'Name of the new home', hint: 'Only for a new home. This service keeps the texts that are written to it: by creating it, you permit that.', required: false }, typed)}</div>
${select({ name: 'access', label: 'It may', choices: may }, typed)}
${input({ name: 'prefix', label: 'Only memories whose keys begin with', hint: 'Left empty: all of them.', required: false }, typed)}
${select({ name: 'days', label: 'How long', choices: ends, hint: 'You can end it at any time, under Keys.' }, typed)}
${await proof(PASSWORD, visit, workspace, typed)}
<p class="actions"><button name="decision" value="allow">Allow</button>
<button name="decision" value="refuse" class="quiet" formnovalidate>Refuse</button></p>
</form>`
}

const searchOf = (call: Call, { values }: Typed): string => values.request ?? call.search

type Asking = Visit & { readonly issuer: string }

/** As a policy names it; it has no way to name an IPv6 address. */
function sourceOf(redirectUri: string): string {
  const { hostname, protocol, origin } = new URL(redirectUri)
  return hostname.startsWith('[') ? protocol : origin
}

async function show(visit: Asking, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { call, session, issuer } = visit
  const { oauth, secure } = workspace
  const considered = await consider(call, oauth, issuer, searchOf(call, typed))
  if (considered.outcome === 'fault') {
    return showFault(call, workspace, considered.location, session)
  }
  const { pending } = considered
  return showPage(call, secure, {
    title: 'Allow access',
    status: typed.refusal?.status ?? 200,
    session,
    place: 'agents',
    scripts: ['passkey'],
    formsTo: sourceOf(pending.redirectUri),
    body: html`<div class="narrow">
<h1>Let <bdi>${pending.client.name}</bdi> in?</h1>
${who(pending)}
${refusalNote(typed)}
${await form(visit, workspace, pending, typed)}
<p class="aside">Signed in as ${session.email}.</p>
</div>`,
  })
}

export const consentPage = endpoint({
  operationId: 'consoleConsentPage',
  method: 'GET',
  path: paths.consent,
  guards: [...forSignedIn, offered, announce('oauth'), perAddress],
  errors: ['authorization_invalid', 'storage_unavailable'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, { values: {} }),
})

const decision = z.object({
  home: z.string(),
  access: z.enum(['read', 'write']),
  prefix: memoryKey.optional(),
  days: z.enum(['0', '1', '30', '365']).transform(Number),
})

const newborn = z.object({ name: characters(fields.name) })

/** Throws `not_found`, and the errors of a birth. */
async function chosen(visit: Visit, workspace: Workspace, sent: Fields): Promise<Identity> {
  const { call, session } = visit
  let agentId = sent.home ?? ''
  if (agentId === NEW) {
    const { name } = validateBody(newborn, { name: sent.name?.trim() })
    const profile = { name, purpose: `Remembers for ${name}.`, symbol: 'zerno' } as const
    agentId = await giveBirthTo(call, workspace, session, profile)
  }
  const owner = await ownerOf(workspace, session, agentId)
  if (!owner) throw problem('not_found', { detail: 'Your account has no such agent.' })
  return owner.identity
}

/** Returns the address at the client. */
async function allow(
  visit: Asking & Sent,
  workspace: Workspace,
  pending: Pending,
): Promise<string> {
  const { call, sent } = visit
  const { home, access, prefix, days } = sent
  const asked = { home, access, days, ...(prefix && { prefix }) }
  const decided = validateBody(decision, asked)
  await takeTurn(visit, workspace)
  const identity = await chosen(visit, workspace, sent)
  const now = workspace.clock()
  const keyId = await grantKey(workspace, identity, {
    client: pending.client,
    access: pending.access === 'read' ? 'read' : decided.access,
    prefix: decided.prefix ?? '',
    expiresAt: now + lasting.unredeemed,
    grantedUntil: decided.days > 0 ? now + decided.days * DAY_MS : undefined,
  })
  return permit(call, workspace.oauth, pending, { agentId: identity.agentId, keyId })
}

export const consentForm = endpoint({
  operationId: 'consoleConsent',
  method: 'POST',
  path: paths.consent,
  guards: [
    ...formForSignedIn,
    offered,
    again(withInput(show)),
    announce('oauth'),
    perAddress,
    recentSignIn(PASSWORD, isAllowed),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'not_found',
    'births_disabled',
    'key_quota_reached',
    'form_sent_before',
    'authorization_invalid',
  ],
  async handle(visit, workspace: Workspace) {
    const { call, sent, session, issuer } = visit
    const considered = await consider(call, workspace.oauth, issuer, sent.request ?? '')
    if (considered.outcome === 'fault') {
      return showFault(call, workspace, considered.location, session)
    }
    const { pending } = considered
    const location = isAllowed(sent)
      ? await allow(visit, workspace, pending)
      : await decline(call, workspace.oauth, pending)
    return redirect(call, location)
  },
})
