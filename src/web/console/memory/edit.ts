/**
 * /console/agents/<id>/memory/new, …/edit?key=… and …/restore: the operator writes a memory, under
 * compare-and-swap.
 */
import { html } from 'hono/html'
import { type Problem, problem } from '../../../errors.ts'
import { findMemory, findVersion, saveMemory } from '../../../home/memories/memory.ts'
import { carryOut, savedBy } from '../../../home/memories/verb.ts'
import { restore } from '../../../home/memories/verbs.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { lineEndsOf, withLineFeeds } from '../../../merge-lines.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Memory } from '../../../store/port/memories.ts'
import { refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath } from '../../layout/paths.ts'
import { agentForm, agentPage, type SentVisit } from '../endpoints.ts'
import { showBeside } from '../memories/list-pane.ts'
import { listingIn, listingQuery, memoryIn, newPath, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showConflict } from './conflict.ts'
import { editor, isThere, meanwhile, SAVE_ERRORS, savedPath, versionIn, writeIn } from './editor.ts'
import { isGone, showGone, unlessGone } from './gone.ts'
import { crumbOf, showMemory } from './memory.ts'
import { findMemoryView } from './memory-view.ts'

const toSaved = ({ call, identity, sent: { key = '', list } }: SentVisit): Answer =>
  redirect(call, savedPath(identity.agentId, key, list))

const createPath = `${agentPath(':agent')}/memory/new`

function showNew(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { agentId } = visit.identity
  const listing = listingIn(typed.values.list)
  return showBeside(visit, workspace, {
    key: '',
    listing,
    title: 'New memory',
    status: typed.refusal?.status ?? 200,
    scripts: ['bytes', 'draft', 'submit'],
    from: newPath(agentId, listing),
    article: html`<h1 id="about">New memory</h1>
${refusalNote(typed)}
${editor(agentId, typed, { save: 'Create', leave: 'Cancel', isNew: true })}`,
  })
}

export const createPage = agentPage({
  operationId: 'consoleCreatePage',
  path: createPath,
  query: listingQuery,
  errors: ['overloaded'],
  handle: (visit, workspace) =>
    showNew(visit, workspace, {
      values: { expectedVersion: '0', list: queryOf(visit.query) },
    }),
})

const TAKEN = 'Nothing was saved: this key is in use. Choose another.'

/** A conflict means that the key is in use. */
const keyTaken = (refusal: Problem): Problem =>
  refusal.code === 'version_conflict'
    ? problem('version_conflict', {
        detail: TAKEN,
        errors: [{ pointer: '/key', message: 'is the key of another memory' }],
      })
    : refusal

export const createForm = agentForm({
  operationId: 'consoleCreate',
  path: createPath,
  budget: 'writes',
  refuse: async (visit, workspace, refusal) =>
    isThere(refusal)
      ? toSaved(visit)
      : showNew(visit, workspace, { values: visit.sent, refusal: keyTaken(refusal) }),
  errors: SAVE_ERRORS,
  async handle(visit, workspace) {
    const { write, metadata } = writeIn({ ...visit.sent, expectedVersion: '0' })
    const text = withLineFeeds(write.text)
    await saveMemory(workspace, visit.identity, { ...write, text }, metadata)
    return toSaved(visit)
  },
})

const editPath = `${agentPath(':agent')}/memory/edit`

function showEdit(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { agentId } = visit.identity
  const { key = '', list, expectedVersion = '' } = typed.values
  const listing = listingIn(list)
  return showBeside(visit, workspace, {
    key,
    listing,
    title: `Edit ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Edit',
    status: typed.refusal?.status ?? 200,
    scripts: ['bytes', 'draft', 'submit', 'later'],
    from: memoryIn(agentId, key, listing, '/edit'),
    article: html`<h1 class="key" id="about">${key}</h1>
<p class="lead">You are editing version ${expectedVersion}. If the agent writes in the meantime, you see both texts and choose.</p>
${refusalNote(typed)}${meanwhile(key, expectedVersion)}
${editor(agentId, typed, { save: 'Save', leave: 'Cancel' })}`,
  })
}

const valuesOf = (memory: Memory | undefined): Fields | undefined =>
  memory && {
    text: memory.text,
    metadata: memory.metadata,
    expectedVersion: String(memory.version),
  }

export const editPage = agentPage({
  operationId: 'consoleEditPage',
  path: editPath,
  query: listingQuery.extend({ key: memoryKey }),
  async handle(visit, workspace) {
    const { key, ...listing } = visit.query
    const view = await unlessGone(findMemoryView(workspace, visit.identity, { key }))
    const values = { key, ...valuesOf(view?.shown), list: queryOf(listing) }
    return view?.current
      ? showEdit(visit, workspace, { values })
      : showGone(visit, workspace, { values })
  },
})

async function refuseEdit(
  visit: SentVisit,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { sent } = visit
  if (isThere(refusal)) return toSaved(visit)
  if (isGone(refusal)) return showGone(visit, workspace, { values: sent, refusal })
  return refusal.code === 'version_conflict'
    ? showConflict(visit, workspace, refusal)
    : showEdit(visit, workspace, { values: sent, refusal })
}

export const editForm = agentForm({
  operationId: 'consoleEdit',
  path: editPath,
  budget: 'writes',
  refuse: refuseEdit,
  errors: SAVE_ERRORS,
  async handle(visit, workspace) {
    const { call, identity, sent } = visit
    const { write, metadata } = writeIn(sent)
    const { key, expectedVersion } = write
    // A memory that is created again is based on nothing.
    const stored = expectedVersion === 0 ? undefined : await findMemory(workspace, identity, key)
    const text = lineEndsOf(stored?.text ?? '', write.text)
    const isBased = stored?.version === expectedVersion
    if (isBased && stored.text === text && stored.metadata === metadata) {
      return redirect(call, `${savedPath(identity.agentId, key, sent.list)}=unchanged`)
    }
    await saveMemory(workspace, identity, { ...write, text }, metadata)
    return toSaved(visit)
  },
})

/** After a conflict, the earlier text is compared with the stored one, as for an edit. */
async function refuseRestore(
  visit: SentVisit,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { identity, sent } = visit
  const { key = '' } = sent
  const overwrites = refusal.code === 'version_conflict' && refusal.extras.members?.currentVersion
  const listing = listingIn(sent.list)
  if (!overwrites) return showMemory(visit, workspace, { key, listing }, { values: {}, refusal })
  const { text, metadata } = await findVersion(workspace, identity, key, Number(sent.version))
  return showConflict({ ...visit, sent: { ...sent, text, metadata } }, workspace, refusal)
}

export const restoreForm = agentForm({
  operationId: 'consoleRestore',
  path: `${agentPath(':agent')}/memory/restore`,
  budget: 'writes',
  refuse: refuseRestore,
  errors: [
    'memory_not_found',
    'version_not_found',
    'version_gone',
    'version_conflict',
    'memory_quota_reached',
  ],
  async handle({ call, identity, sent }, workspace) {
    const request = validateBody(restore.schema, {
      key: sent.key,
      version: versionIn(sent.version),
      expectedVersion: versionIn(sent.expectedVersion),
    })
    const { memory } = savedBy(await carryOut(restore, workspace, identity, request, ''))
    return redirect(
      call,
      `${savedPath(identity.agentId, memory.key, sent.list)}=${request.version}`,
    )
  },
})
