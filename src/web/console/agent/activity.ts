/** /console/agents/<id>/activity: everything that happened in this home, newest first. */
import { html } from 'hono/html'
import { z } from 'zod'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { showAgentPage, tabPath } from '../agent-page.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { eventsBefore, eventTable } from './events.ts'

const EVENTS_PER_PAGE = 40

const further = (next: number | undefined): Html =>
  next === undefined
    ? nothing
    : html`<a class="button quiet" rel="next" href="?before=${next}">Older</a>`

const newest = (path: string, before: number | undefined): Html =>
  before === undefined ? nothing : html`<a class="button quiet" href="${path}">Newest</a>`

export const activityPage = endpoint({
  operationId: 'consoleActivity',
  method: 'GET',
  path: tabPath(':agent', 'activity'),
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ before: queryInteger({ minimum: 1 }).optional() }),
  errors: ['invalid_token'],
  async handle(visit, workspace: Workspace) {
    const { agentId } = visit.identity
    const { before } = visit.query
    const { page, next } = await eventsBefore(workspace, visit.identity, {
      before,
      limit: EVENTS_PER_PAGE,
    })
    return showAgentPage(visit, workspace, {
      tab: 'activity',
      title: 'Activity',
      body: html`<h1>Activity</h1>
<p class="dim">Everything that happened in this home, newest first. It holds no texts, and outlives them.</p>
<div id="events"${before === undefined ? html` data-live` : nothing}>${
        page.length > 0
          ? eventTable(agentId, page, workspace.clock())
          : html`<p class="empty">Nothing happened yet.</p>`
      }
<p class="actions">${newest(tabPath(agentId, 'activity'), before)}${further(next)}</p></div>`,
    })
  },
})
