/** /console/agents/<id>/settings: the profile, exports and imports; and …/leave and …/erase. */
import { html } from 'hono/html'
import { fields } from '../../../fields.ts'
import { eraseWhole, profileChange } from '../../../home/profile.ts'
import { refusal as refusalOf } from '../../../home/refusal.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Profile } from '../../../store/port/identity.ts'
import { symbols } from '../../../symbols.ts'
import {
  checkbox,
  fieldProblem,
  input,
  refusalNote,
  select,
  type Typed,
  textarea,
  untouched,
} from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { plural, when } from '../../layout/words.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { withInput } from '../guards.ts'
import { agentTwoStep } from '../two-step.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

/** Also for a new agent. */
export const nameAndPurpose = (
  typed: Typed,
): Html => html`${input({ name: 'name', label: 'Name', hint: `Up to ${fields.name.maxLength} characters.` }, typed)}
${textarea({ name: 'purpose', label: 'Purpose', hint: 'What the agent is for, in a sentence or two.', rows: 3 }, typed)}`

/** Trimmed, with plain line feeds. */
export const nameAndPurposeIn = ({ name, purpose }: Fields) => ({
  name: name?.trim(),
  purpose: purpose?.replaceAll('\r\n', '\n').trim(),
})

const choices = symbols.map(({ id, name }) => ({ value: id, label: `${name.uk} · ${name.en}` }))

const about = ({ agentId, createdAt }: Profile, now: number): Html => html`
<dl class="facts">
<dt>Created</dt><dd>${when(createdAt, now)}</dd>
<dt>Id</dt><dd><code>${agentId}</code></dd>
</dl>`

const profileFields = ({ agentId }: Profile, typed: Typed): Html => html`<form method="post"
action="${tabPath(agentId, 'settings')}" class="stack">
${nameAndPurpose(typed)}
${select({ name: 'symbol', label: 'Symbol', choices }, typed)}
<button>Save</button>
</form>`

const transfer = (path: string): Html => html`<section aria-labelledby="leave">
<h2 id="leave">Export</h2>
<p>All memories and the profile in one file, or on one page to read and to print.</p>
<p class="actions"><a class="button quiet" href="${path}/export" download>Download the export</a>
<a class="button quiet" href="${path}/print">Read everything on one page</a></p>
</section>
<section aria-labelledby="arrive">
<h2 id="arrive">Import</h2>
<p>The memories in an export, of this agent or another, become memories of this one.</p>
<p class="actions"><a class="button quiet" href="${path}/import">Import an export</a></p>
</section>`

const leaveOrErase = (path: string): Html => html`<section class="risks" aria-labelledby="part">
<h2 id="part">Leave or erase</h2>
<ul class="rows">
<li class="row"><span class="grow"><strong>Leave</strong><br><span class="dim">It goes on without your account; anyone with its operator token can reach it.</span></span>
<a class="button quiet" href="${path}/leave">Leave the agent</a></li>
<li class="row"><span class="grow"><strong>Erase</strong><br><span class="dim">It is gone for good, with everything that it remembers.</span></span>
<a class="button danger" href="${path}/erase">Erase the agent</a></li>
</ul>
</section>`

/** The page, also with the errors of its form. */
async function showSettings(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
): Promise<Answer> {
  const agent = await findAgent(workspace, visit.identity)
  const { profile } = agent
  const { agentId, name, purpose, symbol } = profile
  const path = agentPath(agentId)
  const filled = { ...typed, values: { name, purpose, symbol, ...typed.values } }
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'settings',
    title: 'Settings',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow"><h1 class="away">Settings</h1>
${refusalNote(typed)}
${profileFields(profile, filled)}
${about(profile, workspace.clock())}
${transfer(path)}
${leaveOrErase(path)}</div>`,
  })
}

export const settingsPage = agentPage({
  operationId: 'consoleSettings',
  path: tabPath(':agent', 'settings'),
  budget: null,
  handle: (visit, workspace) => showSettings(visit, workspace, untouched),
})

export const profileForm = agentForm({
  operationId: 'consoleProfile',
  path: tabPath(':agent', 'settings'),
  budget: 'controls',
  refuse: withInput(showSettings),
  async handle({ call, identity, sent }, { store, clock }) {
    const change = validateBody(profileChange, { ...nameAndPurposeIn(sent), symbol: sent.symbol })
    const changed = await store.changeProfile(identity, change, clock())
    if (changed.outcome === 'revoked') throw refusalOf(changed)
    return redirect(call, tabPath(identity.agentId, 'settings'))
  },
})

export const leave = agentTwoStep({
  operationId: 'consoleLeave',
  below: 'leave',
  confirm: true,
  async view({ identity }, workspace, typed) {
    const agent = await findAgent(workspace, identity)
    return {
      agent,
      tab: 'settings',
      title: 'Leave',
      heading: html`Leave <bdi>${agent.profile.name}</bdi>`,
      about: html`<div class="note warn"><p><strong>It is no longer among your agents.</strong> It continues to work, and keeps all its memories. Anyone with its operator token can reach it, and can attach it to their own account.</p></div>`,
      fields: checkbox(
        {
          name: 'understood',
          label: 'I have its operator token, or do not need access to it again.',
        },
        typed,
      ),
      button: 'Leave the agent',
      danger: true,
      cancel: tabPath(identity.agentId, 'settings'),
    }
  },
  async send({ session, identity, sent }, { sessions }) {
    if (sent.understood !== 'yes')
      throw fieldProblem(
        'understood',
        'must be ticked: from then on, only the token gives access to the agent',
      )
    // Succeeds again if the form is sent twice.
    await sessions.leaveAgent(session.accountId, identity.agentId)
    return AGENTS
  },
})

/** A single-line field cannot hold line breaks, and kinds of space look the same. */
const asTyped = (text: string): string => text.replace(/\s+/g, ' ').trim()

function names(typed: string, { name, agentId }: Profile): boolean {
  const said = asTyped(typed)
  return said !== '' && [asTyped(name), agentId].includes(said)
}

export const eraseAgent = agentTwoStep({
  operationId: 'consoleEraseAgent',
  below: 'erase',
  confirm: true,
  async view({ identity }, workspace, typed) {
    const agent = await findAgent(workspace, identity)
    const { profile, memoryCount } = agent
    const { agentId, name } = profile
    return {
      agent,
      tab: 'settings',
      title: 'Erase',
      heading: html`Erase <bdi>${name}</bdi>`,
      about: html`<div class="note warn"><p><strong>This cannot be undone.</strong> The profile, ${plural(memoryCount, 'memory', 'memories')} with every version, its activity and all its keys are erased at once, for you, for the agent and for the operator of this service. Your account stays. To keep anything of it, <a href="${agentPath(agentId)}/export" download>download the export</a> first.</p></div>`,
      fields: input(
        { name: 'typed', label: 'Type the agent’s name', hint: `Or its id: ${agentId}` },
        typed,
      ),
      button: 'Erase the agent for good',
      danger: true,
      cancel: tabPath(agentId, 'settings'),
    }
  },
  async send({ identity, sent: { typed = '' } }, workspace) {
    const { profile } = await findAgent(workspace, identity)
    if (!names(typed, profile))
      throw fieldProblem('typed', 'must be the name that is shown above, or the id')
    await eraseWhole(workspace, identity, identity.agentId)
    return AGENTS
  },
})
