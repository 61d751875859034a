/** /console: the agents of the account, their calls of today, what needs attention, and adding one. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import type { HomeLimits } from '../../../home/limits.ts'
import { statusChange } from '../../../home/profile.ts'
import { type Call, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { failAuthentication } from '../../../pipeline/failures.ts'
import { identify } from '../../../pipeline/guards/bearer.ts'
import { ownerOf } from '../../../pipeline/guards/session.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { hashToken } from '../../../pipeline/tokens.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { dayOf, type OwnedAgent, type Today } from '../../../store/port/activity.ts'
import type { Identity, Profile } from '../../../store/port/identity.ts'
import { hidden, input } from '../../layout/fields.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, LOOK_SECONDS, nothing, showPage } from '../../layout/page.ts'
import { cancel, pages, question, statusMark } from '../../layout/parts.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { number, plural, when } from '../../layout/words.ts'
import { formForSignedIn, forSignedIn } from '../guards.ts'
import { searchForm } from '../memories/everywhere.ts'
import { accountTwoStep } from '../two-step.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { concernMarks, concernsOf } from './attention.ts'

const AGENTS_PER_PAGE = 50

const today = ({ writes, reads }: Today): string =>
  writes + reads === 0 ? 'nothing' : `${plural(writes, 'write')}, ${plural(reads, 'read')}`

function row(agent: OwnedAgent, limits: HomeLimits, now: number): Html {
  const { profile, memoryCount, seenAt } = agent
  return html`<tr>
<th scope="row"><div class="who">${glyph(profile.symbol)}<span><a href="${agentPath(profile.agentId)}" dir="auto">${profile.name}</a>
<span class="dim" dir="auto">${profile.purpose}</span></span></div></th>
<td class="words marks">${statusMark(profile.status)}${concernMarks(concernsOf(agent, agent.today, limits))}</td>
<td data-name="Today">${today(agent.today)}</td>
<td class="number" data-name="Memories">${number(memoryCount)}</td>
<td class="end" data-name="Last seen">${seenAt === undefined ? 'not yet' : when(seenAt, now)}</td>
</tr>`
}

const table = (
  agents: readonly OwnedAgent[],
  limits: HomeLimits,
  now: number,
): Html => html`<table class="list agents">
<thead><tr><th scope="col">Agent</th><th scope="col">Status</th><th scope="col">Today</th><th scope="col" class="number">Memories</th><th scope="col" class="end">Last seen</th></tr></thead>
<tbody>${agents.map((each) => row(each, limits, now))}</tbody>
</table>`

const none = html`<div class="empty"><p>No agent is in this account yet.</p>
<p>Create one, or attach one that was created elsewhere by its operator token.</p></div>`

const PAUSE = `${AGENTS}/pause`

const switches = {
  paused: {
    button: 'Pause all',
    meaning:
      'None of them can read or write until you activate it again. You can still read, edit and export their memories. Nothing is lost.',
  },
  active: {
    button: 'Activate all',
    meaning: 'They continue where they stopped, including those that you paused one by one.',
  },
} as const

/** One switch for all: it activates only where every agent of the page is paused. */
function pauseAll(agents: readonly OwnedAgent[]): Html {
  if (agents.length < 2) return nothing
  const next = agents.every(({ profile }) => profile.status === 'paused') ? 'active' : 'paused'
  const { button, meaning } = switches[next]
  const body = html`<p>${meaning}</p>
<form method="post" action="${PAUSE}" class="actions">${hidden('status', next)}
<button>${button} agents</button>${cancel('pause')}</form>`
  return html`<div>${question({ id: 'pause', button, title: html`${button} agents?`, body })}</div>`
}

/** Every agent of the account, however many pages they are. It is spared the budgets: it stops harm. */
async function setAll({ session }: Visit, workspace: Workspace, status: Profile['status']) {
  const { sessions, store, clock } = workspace
  for (let after: string | undefined; ; ) {
    const page = await sessions.listAgents(session.accountId, { after, limit: AGENTS_PER_PAGE }, 0)
    for (const { profile } of page) {
      if (profile.status === status) continue
      const owner = await ownerOf(workspace, session, profile.agentId)
      if (owner) await store.setStatus(owner.identity, status, clock())
    }
    after = page.at(-1)?.profile.agentId
    if (page.length < AGENTS_PER_PAGE) return
  }
}

export const pauseForm = endpoint({
  operationId: 'consolePauseAll',
  method: 'POST',
  path: PAUSE,
  guards: formForSignedIn,
  errors: [...WRITE_ERRORS, 'invalid_body'],
  async handle(visit, workspace: Workspace) {
    await setAll(visit, workspace, validateBody(statusChange, { status: visit.sent.status }).status)
    return redirect(visit.call, AGENTS)
  },
})

export const agentsPage = endpoint({
  operationId: 'consoleAgents',
  method: 'GET',
  path: AGENTS,
  guards: forSignedIn,
  query: z.object({ after: z.string().optional() }),
  async handle({ call, session, query }, workspace: Workspace) {
    const { sessions, secure, calls, limits, clock } = workspace
    const now = clock()
    await calls.flush()
    const page = { after: query.after, limit: AGENTS_PER_PAGE + 1 }
    const found = await sessions.listAgents(session.accountId, page, dayOf(now))
    const agents = found.slice(0, AGENTS_PER_PAGE)
    const last = found.length > agents.length ? agents.at(-1)?.profile.agentId : undefined
    return showPage(call, secure, {
      title: 'Agents',
      session,
      place: 'agents',
      scripts: ['follow'],
      looks: LOOK_SECONDS,
      body: html`<div class="headed"><h1>Agents</h1><div class="actions">${pauseAll(agents)}<a class="button quiet" href="/console/attach">Attach an agent</a> <a class="button" href="/console/birth">Create agent</a></div></div>
${agents.length > 0 ? searchForm('') : nothing}
<div id="agents" data-live>${agents.length > 0 ? table(agents, limits, now) : none}</div>
${pages('Pages', undefined, last === undefined ? undefined : { path: `${AGENTS}?after=${last}`, words: 'More agents' })}`,
    })
  },
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

export const attach = accountTwoStep({
  operationId: 'consoleAttach',
  path: '/console/attach',
  errors: ['invalid_token', 'too_many_failures', 'insufficient_scope', 'attached_elsewhere'],
  view: (_visit, _workspace, typed) => ({
    title: 'Attach an agent',
    place: 'agents',
    trail: [{ name: 'Agents', path: AGENTS }],
    heading: html`Attach an agent`,
    lead: 'An agent that was created without an account joins yours by its operator token. Paste the token once: it stays valid, and is not stored.',
    fields: input(
      { name: 'token', label: 'Operator token', type: 'password', hint: 'It begins with aho_.' },
      typed,
    ),
    button: 'Attach',
    cancel: AGENTS,
  }),
  async send({ call, session, sent: { token = '' } }, workspace) {
    const operator = await operatorOf(call, workspace, token.trim())
    const { outcome } = await workspace.sessions.attachAgent(operator, session.accountId)
    if (outcome === 'revoked') throw problem('invalid_token')
    if (outcome === 'attached_elsewhere') throw problem('attached_elsewhere')
    return agentPath(operator.agentId)
  },
})
