/** /console/agents/<id>/memory/new: a memory that the operator writes first. */
import { html } from 'hono/html'
import { type Problem, problem } from '../../../errors.ts'
import { saveMemory } from '../../../home/memories/memory.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { isThere, writeIn } from './edit.ts'
import { writing } from './editor.ts'

const path = `${agentPath(':agent')}/memory/new`

const keyHint = 'Letters, digits, and _ . - ; at most 100 of them.'

const TAKEN = 'Nothing was saved: there is a memory under this key. Choose another key.'

/** In the words of the form. */
const inWords = (refusal: Problem): Problem =>
  refusal.code === 'version_conflict'
    ? problem('version_conflict', {
        detail: TAKEN,
        errors: [{ pointer: '/key', message: 'is the key of another memory' }],
      })
    : refusal

function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { agentId } = visit.identity
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: 'New memory',
    status: typed.refusal?.status ?? 200,
    scripts: ['bytes', 'draft', 'submit'],
    body: html`<h1>New memory</h1>
${refusalNote(typed)}
${writing({
  agentId,
  action: `${agentPath(agentId)}/memory/new`,
  key: '',
  above: html`${hidden('expectedVersion', 0)}${input({ name: 'key', label: 'Key', hint: keyHint }, typed)}`,
  typed,
  save: 'Create',
  leave: html`<a class="button quiet" href="${agentPath(agentId)}/memories">Cancel</a>`,
})}`,
  })
}

export const createPage = endpoint({
  operationId: 'consoleCreatePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  errors: ['invalid_token'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, { values: {} }),
})

const saved = ({ call, identity, sent }: AgentVisit & Sent): Answer =>
  redirect(call, `${memoryPath(identity.agentId, sent.key ?? '')}&saved`)

export const createForm = endpoint({
  operationId: 'consoleCreate',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again(async (visit: AgentVisit & Sent, workspace: Workspace, refusal) =>
      isThere(refusal)
        ? saved(visit)
        : show(visit, workspace, { values: visit.sent, refusal: inWords(refusal) }),
    ),
    ...costs('writes'),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'version_conflict',
    'text_too_large',
    'metadata_too_large',
    'memory_quota_reached',
  ],
  async handle(visit, workspace: Workspace) {
    const { write, metadata } = writeIn({ ...visit.sent, expectedVersion: '0' })
    const text = write.text.replace(/\r\n?/g, '\n')
    await saveMemory(workspace, visit.identity, { ...write, text }, metadata)
    return saved(visit)
  },
})
