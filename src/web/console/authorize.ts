/** GET /oauth/authorize: a client sends its user here, and the consent page asks the user. */
import { html } from 'hono/html'
import { type Answer, type Call, redirect } from '../../http/call.ts'
import { offered, perAddress } from '../../oauth/guards.ts'
import { paths } from '../../oauth/oauth.ts'
import { consider } from '../../oauth/request.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { announce } from '../../pipeline/guards/budget.ts'
import type { Session } from '../../store/port/sessions.ts'
import { showPage } from '../layout/page.ts'
import { forAnyone } from './guards.ts'
import type { Workspace } from './workspace.ts'

/** The answer is in the query, or in the fragment for a client that asked for a token. */
function reasonIn({ searchParams, hash }: URL): string {
  const answer = searchParams.has('error') ? searchParams : new URLSearchParams(hash.slice(1))
  return answer.get('error_description') ?? answer.get('error') ?? 'the request is not valid'
}

/**
 * Anybody may register a client, so an error is not a reason to send a browser to its site
 * (RFC 9700, section 4.11.2): the page names the host, and its visitor decides.
 */
export function showFault(
  call: Call,
  { secure }: Workspace,
  location: string,
  session?: Session,
): Promise<Answer> {
  const url = new URL(location)
  return showPage(call, secure, {
    title: 'This program cannot be let in',
    status: 400,
    session,
    body: html`<div class="narrow">
<h1>This program cannot be let in</h1>
<p class="lead">A program at <strong>${url.host}</strong> sent you here, and its request has a fault: ${reasonIn(url)}. Nothing was permitted.</p>
<p>Go back only if you have just started this there. The program will be told what is wrong.</p>
<p class="actions"><a class="button" href="${location}" rel="noreferrer">Go on to ${url.host}</a></p>
</div>`,
  })
}

export const authorize = endpoint({
  operationId: 'authorize',
  method: 'GET',
  path: paths.authorize,
  guards: [...forAnyone, announce('oauth'), offered, perAddress],
  errors: ['authorization_invalid', 'storage_unavailable'],
  async handle({ call, issuer }, workspace: Workspace) {
    const considered = await consider(call, workspace.oauth, issuer, call.search)
    return considered.outcome === 'fault'
      ? showFault(call, workspace, considered.location)
      : redirect(call, `${paths.consent}?${call.search}`)
  },
})
