/** /console/sessions: where the account is signed in, and the way to end it. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { SESSIONS_PER_ACCOUNT, type Session } from '../../../store/port/sessions.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { when } from '../../layout/words.ts'
import { formForSignedIn, forSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'

const path = '/console/sessions'

const row = (each: Session, current: Session, now: number): Html => html`<li class="row">
<span class="grow"><strong>Signed in ${when(each.createdAt, now)}</strong><br>
<span class="dim">Last seen ${when(each.seenAt, now)}, ends ${when(each.expiresAt, now)}<br>
<small dir="auto">${each.userAgent || 'A browser without a name'}</small></span></span>
${each.id === current.id ? html`<span class="status active">this one</span>` : nothing}
<form method="post" action="${path}">${hidden('id', each.id)}
<button class="quiet">${each.id === current.id ? 'Sign out' : 'Revoke'}</button></form>
</li>`

export const sessionsPage = endpoint({
  operationId: 'consoleSessions',
  method: 'GET',
  path,
  guards: forSignedIn,
  async handle({ call, session }, workspace: Workspace) {
    const now = workspace.clock()
    const sessions = await workspace.sessions.listSessions(session.accountId, now)
    return showPage(call, workspace.secure, {
      title: 'Sessions',
      session,
      place: 'account',
      body: html`<h1>Sessions</h1>
<p class="lead">Where ${session.email} is signed in. A session ends after 12 hours without a visit, and after 7 days in any case. An account has at most ${SESSIONS_PER_ACCOUNT}: one more ends the oldest.</p>
<ul class="rows">${sessions.map((each) => row(each, session, now))}</ul>`,
    })
  },
})

export const revokeSessionForm = endpoint({
  operationId: 'consoleRevokeSession',
  method: 'POST',
  path,
  guards: formForSignedIn,
  errors: [...WRITE_ERRORS, 'not_found'],
  async handle({ call, session, sent: { id = '' } }, { sessions }: Workspace) {
    const revoked = await sessions.revokeSession(session.accountId, id)
    if (!revoked) throw problem('not_found', { detail: 'Your account has no such session.' })
    return redirect(call, path)
  },
})
