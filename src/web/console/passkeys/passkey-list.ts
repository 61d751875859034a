/** The passkeys of an account, in words, each to be removed. */
import { html } from 'hono/html'
import { PASSKEYS_PER_ACCOUNT, type Passkey } from '../../../store/port/passkeys.ts'
import { deviceOf } from '../../layout/device.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { when } from '../../layout/words.ts'
import { PASSKEYS } from './options.ts'
import type { Offered } from './relying-party.ts'

const used = ({ usedAt }: Passkey, now: number): Html =>
  usedAt === undefined ? html`not used yet` : html`last used ${when(usedAt, now)}`

const elsewhere = ({ site }: Passkey, offered: Offered): Html =>
  'party' in offered && offered.party.name === site
    ? nothing
    : html`<br><span class="dim">It works at <bdi>${site}</bdi> alone.</span>`

function row(each: Passkey, offered: Offered, now: number): Html {
  const name = deviceOf(each.userAgent)
  return html`<li class="row">
<span class="grow"><strong><bdi>${name}</bdi></strong>, ${used(each, now)}<br>
<span class="dim">Added ${when(each.createdAt, now)}</span>${elsewhere(each, offered)}</span>
<form method="post" action="${PASSKEYS}/remove">${hidden('id', each.id)}
<button class="quiet">Remove<span class="away">: ${name}</span></button></form>
</li>`
}

/** The way to another, or why there is none. */
function another(count: number, offered: Offered): Html {
  if ('why' in offered) return html`<p>${offered.why}</p>`
  return count < PASSKEYS_PER_ACCOUNT
    ? html`<p class="actions"><a class="button quiet" href="${PASSKEYS}">Add a passkey</a></p>`
    : html`<p>There are ${PASSKEYS_PER_ACCOUNT}, as many as an account may have: remove one to add another.</p>`
}

export const passkeyList = (
  passkeys: readonly Passkey[],
  offered: Offered,
  now: number,
): Html => html`<section aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p class="dim">Your device signs you in, in the place of the password, which goes on working. An account may have ${PASSKEYS_PER_ACCOUNT}.</p>
${passkeys.length > 0 ? html`<ul class="rows">${passkeys.map((each) => row(each, offered, now))}</ul>` : nothing}
${another(passkeys.length, offered)}
</section>`
