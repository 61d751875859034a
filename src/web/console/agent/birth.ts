/** /console/birth: creates an agent, and an account if there is none. The tokens are shown once. */
import { html } from 'hono/html'
import { z } from 'zod'
import { fields } from '../../../fields.ts'
import { addressOf } from '../../../home/account.ts'
import { BIRTH_ERRORS, birthRequest, giveBirth } from '../../../home/birth.ts'
import { birthsOpen } from '../../../home/birth-key.ts'
import type { Answer, Call } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Facts } from '../../../pipeline/guard.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { beginSession, currentSession } from '../../../pipeline/sessions.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { type LanguageSymbol, type SymbolGroup, symbols } from '../../../symbols.ts'
import { type Credential, credentials } from '../../layout/credential.ts'
import { checkbox, faultNote, hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { withFaults } from '../../layout/for-people.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { fold } from '../../layout/parts.ts'
import { AGENTS, agentPath, BIRTH, consolePath } from '../../layout/paths.ts'
import { proof, recentIfSignedIn } from '../account/recent-sign-in.ts'
import { eventsPath } from '../agent-page.ts'
import { formKey } from '../form-once.ts'
import { forAnyone, formForAnyone } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { connectSection, firstWrite, firstWritePath } from './connect.ts'
import { nameAndPurpose, nameAndPurposeIn } from './settings.ts'

const choice = ({ id, name, meaning }: LanguageSymbol, chosen: string | undefined): Html =>
  html`<label class="symbol" title="${meaning}">
<input type="radio" name="symbol" value="${id}" required${id === chosen ? html` checked` : nothing}>
${glyph(id)}<span>${name.uk}</span><small>${name.en}</small>
</label>`

const groups: readonly SymbolGroup[] = ['core', 'structural', 'expansion', 'personal']

/** One is chosen already, so that nobody has to. */
const DEFAULT_SYMBOL = 'zerno'

function picker({ values, refusal }: Typed): Html {
  const chosen = symbols.find(({ id }) => id === (values.symbol ?? DEFAULT_SYMBOL)) ?? symbols[0]
  return fold({
    summary: html`<span><strong>Symbol</strong> <span class="dim">The sign of the agent: ${chosen?.name.uk}, ${chosen?.name.en}, unless you choose another.</span></span>`,
    open: refusal?.extras.errors?.some(({ pointer }) => pointer === '/symbol') ?? false,
    body: html`<fieldset class="symbols"><legend class="away">Symbol</legend>${groups.map((group) =>
      symbols.filter((each) => each.group === group).map((each) => choice(each, chosen?.id)),
    )}</fieldset>
${faultNote('symbol', { values, refusal })}`,
  })
}

const CONSENT =
  'I am this agent’s operator. I permit it to be registered here, and I permit this service to keep the texts that it writes.'

const account = (typed: Typed): Html => html`<fieldset>
<legend>Your account</legend>
<p class="hint">Only for these pages: nothing is ever sent to the address. If you have an account already, enter its address and password, and the agent joins it.</p>
${input({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' }, typed)}
${input(
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `${fields.password.minLength} to ${fields.password.maxLength} characters; not a common password, and not your address.`,
  },
  typed,
)}
</fieldset>`

/** `password` is that of an account. */
const AGAIN = 'ownPassword'

interface Shown {
  readonly key: string
  /** For whom the agent is to join the others. */
  readonly session: Session | undefined
  readonly asked: Html
}

const form = (typed: Typed, { key, session, asked }: Shown): Html => html`<form
method="post" action="${BIRTH}" class="stack">
${hidden('key', key)}${consolePath(typed.values.next ?? '') ? hidden('next', typed.values.next ?? '') : nothing}
${nameAndPurpose(typed)}
${session ? nothing : account(typed)}
${picker(typed)}
${checkbox({ name: 'operatorConsent', label: CONSENT }, typed)}
${asked}
<button>Create agent</button>
</form>`

async function show(call: Call, workspace: Workspace, typed: Typed): Promise<Answer> {
  const session = await currentSession(call, workspace)
  const asked = session ? await proof(AGAIN, { call, session }, workspace, typed) : nothing
  return showPage(call, workspace.secure, {
    title: 'Create an agent',
    ...(session && { scripts: ['passkey'] }),
    status: typed.refusal?.status ?? 200,
    session,
    place: 'agents',
    trail: [{ name: 'Agents', path: AGENTS }],
    body: html`<div class="narrow">
<h1>Create an agent</h1>
<p class="lead">A private home for what one agent remembers. You get two tokens: one for the agent, one for you.${session ? ' It joins your other agents.' : ''}</p>
${refusalNote(typed)}
${form(typed, { key: formKey(undefined, workspace), session, asked })}
</div>`,
  })
}

const FAULTS = {
  symbol: 'must be chosen',
  operatorConsent: 'must be ticked: nothing is stored without it',
}

export const birthPage = endpoint({
  operationId: 'consoleBirthPage',
  method: 'GET',
  path: BIRTH,
  guards: [...forAnyone, birthsOpen],
  query: z.object({ next: z.string().optional() }),
  errors: ['storage_unavailable'],
  handle: ({ call, query: { next } }, workspace: Workspace) =>
    show(call, workspace, { values: { ...(next !== undefined && { next }) } }),
})

/**
 * Who is signed in has an account, which the agent joins; the form of one who was not yet, sent again,
 * still names it.
 */
const requestOf = (sent: Fields, session: Session | undefined) =>
  validateBody(birthRequest, {
    ...nameAndPurposeIn(sent),
    symbol: sent.symbol,
    operatorConsent: sent.operatorConsent === 'yes',
    ...((!session || sent.email !== undefined) && {
      email: sent.email ?? '',
      password: sent.password ?? '',
    }),
  })

const tokensOf = (token: string, operatorToken: string): Credential[] => [
  {
    name: 'agent-token',
    label: 'Agent token',
    value: token,
    meaning: 'Give it to the agent’s program. It reads and writes the memories.',
  },
  {
    name: 'operator-token',
    label: 'Operator token',
    value: operatorToken,
    meaning:
      'Keep it yourself, apart from the agent. It also pauses the agent and replaces its token.',
  },
]

/** Back to what the agent was created for, if anything: the list of agents is nothing. */
const onward = (next: string | undefined, agentId: string): Html => {
  const back = consolePath(next ?? '')
  return back === undefined || back === AGENTS
    ? html`<a class="button" href="${agentPath(agentId)}">Done</a>`
    : html`<a class="button" href="${back}">Continue</a>`
}

async function deliver({ call, sent }: Facts & Sent, workspace: Workspace): Promise<Answer> {
  const session = await currentSession(call, workspace)
  const request = requestOf(sent, session)
  const key = formKey(sent.key, workspace)
  const born = await giveBirth(call, workspace, key, { ...request, session })
  const account = session
    ? undefined
    : await workspace.store.findAccount(addressOf(request.email ?? ''))
  if (account) await beginSession(call, workspace, account)
  return showPage(call, workspace.secure, {
    title: `${request.name} is ready`,
    session: session ?? account,
    place: 'agents',
    trail: [{ name: 'Agents', path: AGENTS }],
    here: request.name,
    scripts: ['copy', 'follow'],
    follows: eventsPath(born.agentId),
    from: firstWritePath(born.agentId),
    body: html`<h1 class="with-glyph">${glyph(request.symbol)} <span><bdi>${request.name}</bdi> is ready</span></h1>
<div class="halves"><div>${credentials(tokensOf(born.token, born.operatorToken))}
<p class="actions">${onward(sent.next, born.agentId)}</p></div>
<div>${connectSection(born.agentId)}
${firstWrite(born.agentId, undefined)}</div></div>`,
  })
}

export const birthForm = endpoint({
  operationId: 'consoleBirth',
  method: 'POST',
  path: BIRTH,
  guards: [
    ...formForAnyone,
    again(({ call, sent }: Facts & Sent, workspace: Workspace, refusal) =>
      show(call, workspace, { values: sent, refusal: withFaults(refusal, FAULTS) }),
    ),
    recentIfSignedIn(AGAIN),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', ...BIRTH_ERRORS],
  handle: deliver,
})
