/** Where the account is signed in, in words. */
import { html } from 'hono/html'
import { SESSIONS_PER_ACCOUNT, type Session } from '../../../store/port/sessions.ts'
import { deviceOf, placeOf } from '../../layout/device.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'

export const SESSIONS = `${ACCOUNT}/sessions`

/** A visit is written down once a minute: who asks is there now. */
const seen = (each: Session, isCurrent: boolean, now: number): Html =>
  isCurrent ? html`now` : when(each.seenAt, now)

function row(each: Session, current: Session, now: number): Html {
  const isCurrent = each.id === current.id
  const name = deviceOf(each.userAgent)
  return html`<li class="row">
<span class="grow"><strong><bdi>${name}</bdi>${placeOf(each.place)}</strong>, ${seen(each, isCurrent, now)}<br>
<span class="dim">Signed in ${when(each.createdAt, now)}, ends ${when(each.expiresAt, now)}</span></span>
${isCurrent ? html`<span class="status active">This browser</span>` : nothing}
<form method="post" action="${SESSIONS}">${hidden('id', each.id)}
<button class="quiet">Sign out<span class="away">: ${name}</span></button></form>
</li>`
}

const everywhereElse = html`<form method="post" action="${SESSIONS}/others">
<button class="quiet">Sign out everywhere else</button></form>`

export const sessionList = (
  sessions: readonly Session[],
  current: Session,
  now: number,
): Html => html`<section aria-labelledby="sessions">
<h2 id="sessions">Where you are signed in</h2>
<p class="dim">You are signed out after 12 hours without a visit, and after 7 days in any case; at the latest when there are ${SESSIONS_PER_ACCOUNT} others.</p>
<ul class="rows">${sessions.map((each) => row(each, current, now))}</ul>
${sessions.length > 1 ? everywhereElse : nothing}
</section>`
