/** /console/agents/<id>/memory/new: a memory that the operator writes first. */
import { html } from 'hono/html'
import { type Problem, problem } from '../../../errors.ts'
import { saveMemory } from '../../../home/memories/memory.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath } from '../../layout/paths.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { listField, showBeside } from '../memories/list-pane.ts'
import {
  listingIn,
  listingQuery,
  listPath,
  memoryIn,
  newPath,
  queryOf,
} from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { isThere, KEY_HINT, SAVE_ERRORS, writeIn, writing } from './editor.ts'
import { withLineFeeds } from './merge/merge-lines.ts'

const path = `${agentPath(':agent')}/memory/new`

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
  const { list = '' } = typed.values
  const listing = listingIn(list)
  return showBeside(visit, workspace, {
    key: '',
    listing,
    title: 'New memory',
    status: typed.refusal?.status ?? 200,
    scripts: ['bytes', 'draft', 'submit'],
    from: newPath(agentId, listing),
    article: html`<h1 id="about">New memory</h1>
${refusalNote(typed)}
${writing({
  agentId,
  action: `${agentPath(agentId)}/memory/new`,
  key: '',
  above: html`${hidden('expectedVersion', 0)}${listField(listing)}${input({ name: 'key', label: 'Key', hint: KEY_HINT }, typed)}`,
  typed,
  save: 'Create',
  leave: html`<a class="button quiet" href="${listPath(agentId, listing)}">Cancel</a>`,
})}`,
  })
}

export const createPage = agentPage({
  operationId: 'consoleCreatePage',
  path,
  query: listingQuery,
  errors: ['overloaded'],
  handle: (visit, workspace) => show(visit, workspace, { values: { list: queryOf(visit.query) } }),
})

const saved = ({ call, identity, sent }: AgentVisit & Sent): Answer =>
  redirect(call, `${memoryIn(identity.agentId, sent.key ?? '', listingIn(sent.list))}&saved`)

export const createForm = agentForm({
  operationId: 'consoleCreate',
  path,
  budget: 'writes',
  refuse: async (visit, workspace, refusal) =>
    isThere(refusal)
      ? saved(visit)
      : show(visit, workspace, { values: visit.sent, refusal: inWords(refusal) }),
  errors: SAVE_ERRORS,
  async handle(visit, workspace) {
    const { write, metadata } = writeIn({ ...visit.sent, expectedVersion: '0' })
    const text = withLineFeeds(write.text)
    await saveMemory(workspace, visit.identity, { ...write, text }, metadata)
    return saved(visit)
  },
})
