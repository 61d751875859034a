/** /console/agents/<id>/memory/erase?key=…: texts that are to be gone for good. */
import { html } from 'hono/html'
import { z } from 'zod'
import { eraseVersions } from '../../../home/memories/erase-memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { hidden, input, refusalNote, select, type Typed, untouched } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { crumbOf } from './memory.ts'
import { findStanding } from './standing.ts'

const path = `${agentPath(':agent')}/memory/erase`

const choices = [
  { value: 'history', label: 'Its history: every version but the newest' },
  { value: 'all', label: 'All of it: what is stored now, and its history' },
] as const

const erasure = z
  .strictObject({
    key: memoryKey,
    versions: z.enum(['history', 'all'], 'must be one of the two'),
    typed: z.string().default(''),
  })
  .refine(({ key, typed }) => typed === key, {
    path: ['typed'],
    error: 'must be the key, exactly as it stands above',
  })

const form = (agentId: string, key: string, typed: Typed): Html => html`<form
method="post" action="${agentPath(agentId)}/memory/erase" class="stack">
${hidden('key', key)}
${select({ name: 'versions', label: 'What is to be erased', choices }, typed)}
${input({ name: 'typed', label: 'The key, typed once more' }, typed)}
<p class="actions"><button class="danger">Erase for good</button>
<a class="button quiet" href="${memoryPath(agentId, key)}">Cancel</a></p>
</form>`

async function show(
  visit: AgentVisit,
  workspace: Workspace,
  key: string,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  await findStanding(workspace, identity, { key })
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Erase ${key}`,
    trail: [crumbOf(identity.agentId, key)],
    here: 'Erase',
    status: typed.refusal?.status ?? 200,
    body: html`<h1>Erase <span class="key">${key}</span></h1>
${refusalNote(typed)}
<div class="note warn"><p><strong>Nothing brings it back.</strong> What is erased is gone for you, for the agent and for whoever runs this service. Copies that were made before stay where they are: exports, and backups. To delete it so that it can be brought back, go back and choose “Delete”.</p></div>
${form(identity.agentId, key, typed)}`,
  })
}

export const erasePage = endpoint({
  operationId: 'consoleErasePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ key: memoryKey }),
  errors: ['invalid_token', 'memory_not_found'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, visit.query.key, untouched),
})

export const eraseForm = endpoint({
  operationId: 'consoleErase',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again((visit: AgentVisit & Sent, workspace: Workspace, refusal) =>
      show(visit, workspace, visit.sent.key ?? '', { values: visit.sent, refusal }),
    ),
    ...costs('controls'),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', 'memory_not_found'],
  async handle({ call, identity, sent }, workspace: Workspace) {
    const { key, versions } = validateBody(erasure, sent)
    await eraseVersions(workspace, identity, key, versions)
    const { agentId } = identity
    const left = versions === 'all' ? `${agentPath(agentId)}/memories` : memoryPath(agentId, key)
    return redirect(call, left)
  },
})
