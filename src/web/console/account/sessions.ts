/** /console/sessions: where the account is signed in, and the way to end it. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import type { Session } from '../../../store/port.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { when } from '../../layout/words.ts'
import { ownForm, ownPage, redirect } from '../route.ts'

const path = '/console/sessions'

const row = (each: Session, current: Session, now: number): Html => html`<li class="row">
<span class="grow"><strong>Signed in ${when(each.createdAt, now)}</strong><br>
<span class="dim">Last seen ${when(each.seenAt, now)}, ends ${when(each.expiresAt, now)}<br>
<small dir="auto">${each.userAgent || 'A browser without a name'}</small></span></span>
${each.id === current.id ? html`<span class="status active">this one</span>` : nothing}
<form method="post" action="${path}">${hidden('id', each.id)}
<button class="quiet">${each.id === current.id ? 'Sign out' : 'Revoke'}</button></form>
</li>`

export const sessionsPage = ownPage('consoleSessions', path, async ({ call, console, session }) => {
  const now = console.home.clock()
  const sessions = await console.store.listSessions(session.accountId, now)
  return showPage(call, console.secure, {
    title: 'Sessions',
    session,
    body: html`<h1>Sessions</h1>
<p class="lead">Where ${session.email} is signed in. A session ends after 12 hours without a visit, and after 7 days in any case.</p>
<ul class="rows">${sessions.map((each) => row(each, session, now))}</ul>`,
  })
})

export const revokeSessionForm = ownForm(
  'consoleRevokeSession',
  path,
  async ({ id = '' }, { call, console, session }) => {
    const revoked = await console.store.revokeSession(session.accountId, id)
    if (!revoked) throw problem('not_found', { detail: 'Your account has no such session.' })
    return redirect(call, path)
  },
)
