/** The ways in: /console/sign-in, by password or by passkey, and /console/recover; and sign-out. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { anotherPassword, PASSWORD_ERRORS, signIn } from '../../../home/account.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Facts } from '../../../pipeline/guard.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { hashLink, RECOVER } from '../../../pipeline/links.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { beginSession, currentSession, endSession } from '../../../pipeline/sessions.ts'
import type { Recovered } from '../../../store/port/sessions.ts'
import { hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { type Html, showPage } from '../../layout/page.ts'
import { BIRTH, consolePath, SIGN_IN } from '../../layout/paths.ts'
import { forAnyone, formForAnyone, formForSignedIn, withInput } from '../guards.ts'
import { ASKS, ceremony, offeredAt } from '../passkeys/ceremony.ts'
import { PASSKEY_ERRORS, signInByPasskey } from '../passkeys/prove.ts'
import type { Workspace } from '../workspace.ts'
import { newPasswordField, newPasswordIn } from './account.ts'

/** The birth of an agent, which returns there too. */
const birthFor = (next: string | undefined): string => {
  const path = consolePath(next ?? '')
  return path === undefined ? BIRTH : `${BIRTH}?next=${encodeURIComponent(path)}`
}

const destination = (next: string | undefined): string => consolePath(next ?? '') ?? '/console'

/** A separate form, without the required fields of the password. */
function passkeyForm(call: Call, workspace: Workspace, { values }: Typed): Html {
  const offered = offeredAt(call, workspace)
  if ('why' in offered) return html`<p class="aside">${offered.why}</p>`
  return html`<form method="post" action="${ASKS.signIn}" class="aside">
${hidden('next', destination(values.next))}
${ceremony({ does: 'get', asks: ASKS.signIn, field: 'passkey', label: 'Sign in with a passkey', quiet: true })}
</form>`
}

const show = ({ call }: Facts, workspace: Workspace, typed: Typed): Promise<Answer> =>
  showPage(call, workspace.secure, {
    title: 'Sign in',
    status: typed.refusal?.status ?? 200,
    scripts: ['passkey', 'draft'],
    body: html`<div class="narrow">
<h1>Sign in</h1>
<p class="lead">To the agents of your operator account.</p>
${refusalNote(typed)}
<div class="note good" id="draft-safe" role="status" hidden><p>What you were writing is safe in this browser. Sign in, and it is where you left it.</p></div>
<form method="post" action="${SIGN_IN}" class="stack">
${hidden('next', destination(typed.values.next))}
${input({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' }, typed)}
${input({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, typed)}
<button>Sign in</button>
</form>
${passkeyForm(call, workspace, typed)}
<p class="aside">No account yet? <a href="${birthFor(typed.values.next)}">Create your first agent</a>; your account comes with it.</p>
</div>`,
  })

export const signInPage = endpoint({
  operationId: 'consoleSignInPage',
  method: 'GET',
  path: SIGN_IN,
  guards: forAnyone,
  query: z.object({ next: z.string().optional() }),
  errors: ['storage_unavailable'],
  handle: async ({ call, query: { next } }, workspace: Workspace) =>
    (await currentSession(call, workspace))
      ? redirect(call, destination(next))
      : show({ call }, workspace, { values: { ...(next !== undefined && { next }) } }),
})

const signInAgain = again(withInput(show))

export const signInForm = endpoint({
  operationId: 'consoleSignIn',
  method: 'POST',
  path: SIGN_IN,
  guards: [...formForAnyone, signInAgain],
  errors: [...WRITE_ERRORS, ...PASSWORD_ERRORS, 'too_many_sign_ins'],
  async handle({ call, sent: { email = '', password = '', next } }, workspace: Workspace) {
    const session = await currentSession(call, workspace)
    const presented = { email, password, session }
    const account = await signIn(call, workspace, presented).catch(hideDetail)
    await beginSession(call, workspace, account)
    return redirect(call, destination(next))
  },
})

/** The catalogue's sentence is for births; here it must not reveal whether an account exists. */
function hideDetail(error: unknown): never {
  const { code } = error as { code?: unknown }
  if (code !== 'wrong_password') throw error
  throw problem('wrong_password', { detail: 'The e-mail address and password do not match.' })
}

export const signOutForm = endpoint({
  operationId: 'consoleSignOut',
  method: 'POST',
  path: '/console/sign-out',
  guards: formForSignedIn,
  errors: WRITE_ERRORS,
  async handle({ call, session }, workspace: Workspace) {
    await endSession(call, workspace, session)
    return redirect(call, SIGN_IN)
  },
})

export const passkeySignInForm = endpoint({
  operationId: 'consolePasskeySignIn',
  method: 'POST',
  path: ASKS.signIn,
  guards: [...formForAnyone, signInAgain],
  errors: [...WRITE_ERRORS, ...PASSKEY_ERRORS, 'too_many_sign_ins'],
  async handle({ call, sent: { passkey = '', next } }, workspace: Workspace) {
    const session = await currentSession(call, workspace)
    const account = await signInByPasskey(call, workspace, passkey, session)
    await beginSession(call, workspace, account)
    return redirect(call, destination(next))
  },
})

const showRecovery = ({ call }: Facts, { secure }: Workspace, typed: Typed): Promise<Answer> =>
  showPage(call, secure, {
    title: 'Set a new password',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow">
<h1>Set a new password</h1>
<p class="lead">The link works once. It signs the account out everywhere and removes its passkeys.</p>
${refusalNote(typed)}
<form method="post" action="${RECOVER}" class="stack">
${hidden('link', typed.values.link ?? '')}
${input({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', required: false }, typed)}
${newPasswordField(typed)}
<button>Set the password and sign in</button>
</form>
</div>`,
  })

/** Throws `link_void`. */
async function accountOf({ sessions, clock }: Workspace, link: string): Promise<Recovered> {
  const account = await sessions.findRecovery(hashLink(link), clock())
  if (!account) throw problem('link_void')
  return account
}

/** Viewing does not use up the link, because mail clients and previews open it too. */
export const recoverPage = endpoint({
  operationId: 'consoleRecoverPage',
  method: 'GET',
  path: RECOVER,
  guards: forAnyone,
  query: z.object({ link: z.string().default('') }),
  errors: ['link_void', 'storage_unavailable'],
  async handle({ call, query: { link } }, workspace: Workspace) {
    const { email } = await accountOf(workspace, link)
    return showRecovery({ call }, workspace, { values: { link, email } })
  },
})

async function recover({ call, sent }: Facts & Sent, workspace: Workspace): Promise<Answer> {
  const { link = '' } = sent
  const { email } = await accountOf(workspace, link)
  const password = newPasswordIn(sent)
  const hash = await anotherPassword(call, workspace, { email, password })
  // If the link is used twice at once, only one succeeds.
  const account = await workspace.sessions.setPassword(hashLink(link), hash, workspace.clock())
  if (!account) throw problem('link_void')
  await beginSession(call, workspace, account)
  return redirect(call, '/console')
}

export const recoverForm = endpoint({
  operationId: 'consoleRecover',
  method: 'POST',
  path: RECOVER,
  guards: [...formForAnyone, again(withInput(showRecovery))],
  errors: [...WRITE_ERRORS, 'link_void', 'invalid_body', 'passwords_busy'],
  handle: recover,
})
