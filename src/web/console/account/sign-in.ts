/** /console/sign-in and sign-out. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { signIn } from '../../../home/account.ts'
import type { Answer, Call } from '../../../http/call.ts'
import { hidden, input, orAgain, refusalNote, type Typed } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import type { Console } from '../console.ts'
import { consolePath, openForm, openPage, ownForm, redirect } from '../route.ts'
import { beginSession, currentSession, endSession } from '../session.ts'

const path = '/console/sign-in'

const destination = (next: string | undefined): string => consolePath(next ?? '') ?? '/console'

const show = (call: Call, console: Console, typed: Typed): Promise<Answer> =>
  showPage(call, console.secure, {
    title: 'Sign in',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow">
<h1>Sign in</h1>
<p class="lead">To the agents of your operator account.</p>
${refusalNote(typed)}
<form method="post" action="${path}" class="stack">
${hidden('next', destination(typed.values.next))}
${input({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' }, typed)}
${input(
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    secret: true,
  },
  typed,
)}
<button>Sign in</button>
</form>
<p class="aside">No account yet? <a href="/console/birth">Give birth to an agent</a>: that makes one.</p>
</div>`,
  })

export const signInPage = openPage('consoleSignInPage', path, async (call, console) => {
  const next = new URLSearchParams(call.search).get('next') ?? undefined
  return (await currentSession(call, console))
    ? redirect(call, destination(next))
    : show(call, console, { values: { ...(next !== undefined && { next }) } })
})

export const signInForm = openForm('consoleSignIn', path, (sent, call, console) =>
  orAgain(
    call,
    async () => {
      const { email = '', password = '', next } = sent
      const account = await signIn(call, console.home, email, password).catch(hideDetail)
      await beginSession(call, console, account.id)
      return redirect(call, destination(next))
    },
    (refusal) => show(call, console, { values: sent, refusal }),
  ),
)

/** The catalogue's sentence is about a birth; here it must not tell whether an account exists. */
function hideDetail(error: unknown): never {
  const { code } = error as { code?: unknown }
  if (code !== 'wrong_password') throw error
  throw problem('wrong_password', { detail: 'The e-mail address and password do not match.' })
}

export const signOutForm = ownForm('consoleSignOut', '/console/sign-out', async (_, visit) => {
  const { call, console, session } = visit
  await endSession(call, console, session)
  return redirect(call, path)
})
