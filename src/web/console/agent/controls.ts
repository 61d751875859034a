/** The section with the operator's switch and key: pause, activate, rotate. */
import { html } from 'hono/html'
import type { Profile } from '../../../store/port/home.ts'
import { checkbox, hidden, refusalNote, type Typed } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'

const meanings = {
  paused: {
    button: 'Set it active',
    meaning:
      'The agent is paused: its token may only read its profile. Yours still reads, repairs and exports. Set it active and it goes on where it was.',
    next: 'active',
  },
  active: {
    button: 'Pause the agent',
    meaning:
      'Pausing stops the agent, not you: its token may then only read its profile, while you can still read, repair and export what it remembers. Nothing is lost.',
    next: 'paused',
  },
} as const

function statusForm({ agentId, status }: Profile): Html {
  const { button, meaning, next } = meanings[status]
  return html`<form method="post" action="${agentPath(agentId)}/status" class="stack">
<h3>Status</h3>
<p>${meaning}</p>
${hidden('status', next)}
<button class="quiet">${button}</button>
</form>`
}

const keyForm = ({ agentId, name }: Profile, typed: Typed): Html => html`<form method="post"
action="${agentPath(agentId)}/key" class="stack">
<h3>Agent key</h3>
<p>A new token replaces the one that <span dir="auto">${name}</span> uses now. Do this when the token may be known to others.</p>
${checkbox({ name: 'understood', label: 'The present agent token stops working at once, wherever it is used.' }, typed)}
<button class="danger">Rotate the key</button>
</form>`

export const controls = (profile: Profile, typed: Typed): Html => html`<section
aria-labelledby="controls">
<h2 id="controls">Controls</h2>
${refusalNote(typed)}
<div class="halves">${statusForm(profile)}${keyForm(profile, typed)}</div>
<p class="actions"><a class="button quiet" href="${agentPath(profile.agentId)}/keys">Named keys and the operator key</a>
<a class="button danger" href="${agentPath(profile.agentId)}/erase">Erase the agent</a></p>
</section>`
