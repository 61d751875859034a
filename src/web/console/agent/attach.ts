/** /console/attach: an agent born without an account joins one by its operator token. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { type Answer, type Call, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { failAuthentication } from '../../../pipeline/failures.ts'
import { identify } from '../../../pipeline/guards/bearer.ts'
import { again } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { hashToken } from '../../../pipeline/tokens.ts'
import type { Identity } from '../../../store/port/home.ts'
import { input, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { proof, secondLook } from '../account/second-look.ts'
import { formForSignedIn, forSignedIn } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'

const path = '/console/attach'

async function show(visit: Visit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const asked = await proof('password', visit, workspace, typed)
  return showPage(visit.call, workspace.secure, {
    title: 'Attach an agent',
    status: typed.refusal?.status ?? 200,
    session: visit.session,
    place: 'agents',
    trail: [{ name: 'Agents', path: AGENTS }],
    scripts: ['passkey'],
    body: html`<div class="narrow">
<h1>Attach an agent</h1>
<p class="lead">An agent that was created without an account joins yours by its operator token. Paste it once; the token stays as it is and is not kept.</p>
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
${asked}
<p class="actions"><button>Attach</button> <a class="button quiet" href="${AGENTS}">Cancel</a></p>
</form>
</div>`,
  })
}

export const attachPage = endpoint({
  operationId: 'consoleAttachPage',
  method: 'GET',
  path,
  guards: forSignedIn,
  handle: (visit, workspace: Workspace) => show(visit, workspace, untouched),
})

/** Throws `invalid_token`, counted against the address, or `insufficient_scope`. */
async function operatorOf(call: Call, workspace: Workspace, token: string): Promise<Identity> {
  const known = await identify(token, hashToken(token), workspace)
  if (!known) return failAuthentication(call, workspace, 'invalid_token')
  if (known.kind === 'operator') return known
  throw problem('insufficient_scope', {
    detail: 'This is the agent’s own token. Paste the operator token: it begins with aho_.',
  })
}

async function attach(
  { call, session }: Visit,
  workspace: Workspace,
  token: string,
): Promise<Answer> {
  const operator = await operatorOf(call, workspace, token.trim())
  const { outcome } = await workspace.sessions.attachAgent(operator, session.accountId)
  if (outcome === 'revoked') throw problem('invalid_token')
  if (outcome === 'attached_elsewhere') throw problem('attached_elsewhere')
  return redirect(call, agentPath(operator.agentId))
}

export const attachForm = endpoint({
  operationId: 'consoleAttach',
  method: 'POST',
  path,
  guards: [
    ...formForSignedIn,
    again((visit: Visit, workspace: Workspace, refusal) =>
      show(visit, workspace, { values: {}, refusal }),
    ),
    secondLook('password'),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_token',
    'too_many_failures',
    'insufficient_scope',
    'attached_elsewhere',
  ],
  handle: (visit, workspace: Workspace) => attach(visit, workspace, visit.sent.token ?? ''),
})
