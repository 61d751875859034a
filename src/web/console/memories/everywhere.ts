/** /console/search: what all agents of the account remember of some words. */
import { html } from 'hono/html'
import { z } from 'zod'
import { searchInTurn } from '../../../home/memories/search.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import { spenderOf } from '../../../pipeline/guards/budget.ts'
import { dayOf, type OwnedAgent } from '../../../store/port/activity.ts'
import type { SearchHit } from '../../../store/port/search.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { SEARCH } from '../../layout/paths.ts'
import { forSignedIn } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { isSearch, rowOf } from './found.ts'
import { found as foundRow } from './list-pane.ts'
import { everything, listPath, MOST_SOUGHT } from './listing.ts'

/** Each costs what a search of it costs; more are searched on their own pages. */
const MOST_AGENTS = 20
const HITS_PER_AGENT = 5

/** Also on the page of the agents. */
export const searchForm = (
  q: string,
  focus = false,
): Html => html`<form method="get" role="search" class="finder" action="${SEARCH}"><div class="line">
<label class="away" for="q">Search the memories of all agents</label>
<input id="q" name="q" type="search" value="${q}" maxlength="${MOST_SOUGHT}" placeholder="Search the memories of all agents" autocomplete="off" dir="auto" aria-keyshortcuts="/"${focus ? html` autofocus` : nothing}>
<button class="quiet">Search</button></div></form>`

interface Answered {
  readonly agent: OwnedAgent
  /** Undefined if its budget is used up. */
  readonly hits: readonly SearchHit[] | undefined
}

/** As its operator, within the budget of its searches. */
async function searched(
  { call, session }: Visit,
  workspace: Workspace,
  agent: OwnedAgent,
  q: string,
): Promise<Answered> {
  const owner = await workspace.sessions.identifyOwner(session.accountId, agent.profile.agentId)
  if (!owner) return { agent, hits: [] }
  const { identity } = owner
  const { allowed } = await workspace.budgets.take('reads', spenderOf(identity))
  if (!allowed) return { agent, hits: undefined }
  const query = { q, prefix: '', limit: HITS_PER_AGENT }
  return { agent, ...(await searchInTurn(workspace, clientOf(call, workspace), identity, query)) }
}

function section({ agent: { profile }, hits }: Answered, q: string, now: number): Html {
  const { agentId, name, symbol } = profile
  const all = listPath(agentId, { ...everything, q })
  return html`<section><h2 class="with-glyph">${glyph(symbol)} <a href="${all}" dir="auto">${name}</a></h2>
${
  hits
    ? html`<ul class="memories deleted">${hits.map((hit) => foundRow(agentId, rowOf(hit), q, now))}</ul>`
    : html`<p class="dim">It was searched too often in this minute.</p>`
}</section>`
}

const nobody = (q: string, count: number): Html =>
  html`<p class="empty">Nothing in ${count === 1 ? 'your agent' : `your ${count} agents`} answers “<bdi>${q}</bdi>”. The search of one agent suggests words that are spelled alike.</p>`

export const searchPage = endpoint({
  operationId: 'consoleSearch',
  method: 'GET',
  path: SEARCH,
  guards: forSignedIn,
  query: z.object({ q: z.string().max(MOST_SOUGHT).default('') }),
  errors: ['overloaded', 'invalid_token'],
  async handle(visit, workspace: Workspace) {
    const { call, session, query } = visit
    const { q } = query
    const now = workspace.clock()
    const page = { limit: MOST_AGENTS + 1 }
    const found = isSearch({ q })
      ? await workspace.sessions.listAgents(session.accountId, page, dayOf(now))
      : []
    const agents = found.slice(0, MOST_AGENTS)
    const answered: Answered[] = []
    for (const agent of agents) answered.push(await searched(visit, workspace, agent, q))
    const some = answered.filter(({ hits }) => !hits || hits.length > 0)
    return showPage(call, workspace.secure, {
      title: 'Search',
      session,
      place: 'search',
      body: html`<h1>Search</h1>
${searchForm(q, q === '')}
${some.map((each) => section(each, q, now))}
${isSearch({ q }) && some.length === 0 ? nobody(q, agents.length) : nothing}
${found.length > MOST_AGENTS ? html`<p class="dim">The first ${MOST_AGENTS} of your agents were searched. Search the others on their own pages.</p>` : nothing}`,
    })
  },
})
