/** /console/agents/<id>/memory/delete?key=…: asks once more, and deletes what can be brought back. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { HomeLimits } from '../../../home/limits.ts'
import { makeChange } from '../../../home/memories/answers.ts'
import { remove } from '../../../home/memories/delete.ts'
import { findMemory } from '../../../home/memories/memory.ts'
import { momentOf } from '../../../home/memories/operation.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { number, size } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { versionIn } from './edit.ts'
import { crumbOf, facts } from './memory.ts'

/** What a limit of 0 leaves without bound is not named. */
function bounds({ versionsPerMemory, bytesPerAgent }: HomeLimits): string[] {
  return [
    versionsPerMemory > 0 ? `the ${number(versionsPerMemory)} newest versions of a memory` : '',
    bytesPerAgent > 0 ? `${size(bytesPerAgent)} of all that the agent wrote` : '',
  ].filter(Boolean)
}

function until(limits: HomeLimits): string {
  const kept = bounds(limits)
  if (kept.length === 0) return 'All versions are kept, until you erase them.'
  return `Kept are ${kept.join(', and ')}; what is oldest gives way to what is new. No time ends it.`
}

const path = `${agentPath(':agent')}/memory/delete`

const form = (agentId: string, key: string, version: number): Html => html`<form
method="post" action="${agentPath(agentId)}/memory/delete">
${hidden('key', key)}${hidden('expectedVersion', version)}
<p class="actions"><button class="danger">Delete version ${version}</button>
<a class="button quiet" href="${memoryPath(agentId, key)}">Cancel</a></p>
</form>`

/** Shown again, it asks about what is stored by then. */
async function show(
  visit: AgentVisit,
  workspace: Workspace,
  asked: string,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  const memory = await findMemory(workspace, identity, asked)
  const { key, version } = memory
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Delete ${key}`,
    trail: [crumbOf(identity.agentId, key)],
    here: 'Delete',
    status: typed.refusal?.status ?? 200,
    body: html`<h1>Delete <span class="key">${key}</span>?</h1>
${refusalNote(typed)}
<p class="lead">The agent finds nothing under this key then. You and the agent can bring it back for as long as its versions are kept.</p>
<p>${until(workspace.limits)}</p>
${facts(memory, workspace.clock())}
<pre class="text" dir="auto" tabindex="0" aria-label="Text">${memory.text}</pre>
${form(identity.agentId, key, version)}`,
  })
}

export const deletePage = endpoint({
  operationId: 'consoleDeletePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ key: memoryKey }),
  errors: ['invalid_token', 'memory_not_found'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, visit.query.key, untouched),
})

export const deleteForm = endpoint({
  operationId: 'consoleDelete',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again((visit: AgentVisit & Sent, workspace: Workspace, refusal) =>
      show(visit, workspace, visit.sent.key ?? '', { values: {}, refusal }),
    ),
    ...costs('writes'),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'memory_not_found',
    'version_conflict',
  ],
  async handle({ call, identity, sent }, workspace: Workspace) {
    const expectedVersion = versionIn(sent.expectedVersion)
    const asked = validateBody(remove.schema, { ...sent, expectedVersion })
    const moment = momentOf(workspace)
    await makeChange(workspace, identity, remove.change(asked, '', moment), moment.now)
    return redirect(call, memoryPath(identity.agentId, asked.key))
  },
})
