/** /console/attach: an agent born without an account joins one by its operator token. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { failAuthentication } from '../../../home/endpoint.ts'
import type { Answer } from '../../../http/call.ts'
import { hashToken, isWellFormedToken } from '../../../pipeline/tokens.ts'
import type { Identity } from '../../../store/port.ts'
import { input, orAgain, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { ownForm, ownPage, redirect, type Visit } from '../route.ts'

const path = '/console/attach'

const show = ({ call, console, session }: Visit, typed: Typed): Promise<Answer> =>
  showPage(call, console.secure, {
    title: 'Attach an agent',
    status: typed.refusal?.status ?? 200,
    session,
    body: html`<div class="narrow">
<h1>Attach an agent</h1>
<p class="lead">An agent that was born without an account joins yours by its operator token. Paste it once; the token stays as it is and is not kept.</p>
${refusalNote(typed)}
<form method="post" action="${path}" class="stack">
${input(
  {
    name: 'token',
    label: 'Operator token',
    type: 'password',
    secret: true,
    hint: 'It begins with aho_.',
  },
  typed,
)}
<button>Attach</button>
</form>
</div>`,
  })

export const attachPage = ownPage('consoleAttachPage', path, (visit) => show(visit, untouched))

/** Throws `invalid_token`, counted against the address, or `insufficient_scope`. */
async function operatorOf({ call, console }: Visit, token: string): Promise<Identity> {
  const { home } = console
  const known = isWellFormedToken(token) ? await home.store.identify(hashToken(token)) : undefined
  if (!known) return failAuthentication(call, home, 'invalid_token')
  if (known.kind === 'operator') return known
  throw problem('insufficient_scope', {
    detail: 'This is the agent’s own token. Paste the operator token: it begins with aho_.',
  })
}

async function attach(visit: Visit, token: string): Promise<Answer> {
  const { call, console, session } = visit
  const operator = await operatorOf(visit, token.trim())
  const { outcome } = await console.store.attachAgent(operator, session.accountId)
  if (outcome === 'revoked') throw problem('invalid_token')
  if (outcome === 'attached_elsewhere') throw problem('attached_elsewhere')
  return redirect(call, `/console/agents/${operator.agentId}`)
}

export const attachForm = ownForm('consoleAttach', path, ({ token = '' }, visit) =>
  orAgain(
    visit.call,
    () => attach(visit, token),
    (refusal) => show(visit, { values: {}, refusal }),
  ),
)
