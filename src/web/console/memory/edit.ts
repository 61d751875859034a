/** /console/agents/<id>/memory/edit?key=…: repair a memory under compare-and-swap. */

import { html } from 'hono/html'
import type { Problem } from '../../../errors.ts'
import { findMemory, saveMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath } from '../../layout/paths.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { showBeside } from '../memories/list-pane.ts'
import { listingIn, listingQuery, memoryIn, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showConflict } from './conflict.ts'
import { editor, isThere, meanwhile, SAVE_ERRORS, writeIn } from './editor.ts'
import { isGone, showGone, unlessGone } from './gone.ts'
import { crumbOf } from './memory.ts'
import { lineEndsOf } from './merge/merge-lines.ts'
import { findStanding } from './standing.ts'

const valuesOf = ({ key, text, metadata, version }: Memory): Fields => ({
  key,
  text,
  metadata,
  expectedVersion: String(version),
})

function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { agentId } = visit.identity
  const { key = '', list } = typed.values
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
<p class="lead">You are editing version ${typed.values.expectedVersion}. If the agent writes in the meantime, you see both texts and choose.</p>
${refusalNote(typed)}${meanwhile(key, typed.values.expectedVersion ?? '')}
${editor(agentId, typed, 'Save', 'Cancel')}`,
  })
}

const path = `${agentPath(':agent')}/memory/edit`

export const editPage = agentPage({
  operationId: 'consoleEditPage',
  path,
  query: listingQuery.extend({ key: memoryKey }),
  async handle(visit, workspace) {
    const { key, ...listing } = visit.query
    const standing = await unlessGone(findStanding(workspace, visit.identity, { key }))
    const shown = standing?.shown && valuesOf(standing.shown)
    const values = { key, ...shown, list: queryOf(listing) }
    return standing?.current
      ? show(visit, workspace, { values })
      : showGone(visit, workspace, { values })
  },
})

/** To the memory, which says that it was saved. */
const wayBack = ({ identity, sent: { key = '', list } }: AgentVisit & Sent): string =>
  `${memoryIn(identity.agentId, key, listingIn(list))}&saved`

type Write = ReturnType<typeof writeIn>['write']

/** What is created again is based on nothing. Throws `memory_not_found`. */
const basisOf = async (workspace: Workspace, identity: Identity, write: Write) =>
  write.expectedVersion === 0 ? undefined : findMemory(workspace, identity, write.key)

async function save(visit: AgentVisit & Sent, workspace: Workspace): Promise<Answer> {
  const { call, identity, sent } = visit
  const { write, metadata } = writeIn(sent)
  const stored = await basisOf(workspace, identity, write)
  const kept = { ...write, text: lineEndsOf(stored?.text ?? '', write.text) }
  const isBased = stored?.version === write.expectedVersion
  if (isBased && stored.text === kept.text && stored.metadata === metadata) {
    return redirect(call, `${wayBack(visit)}=unchanged`)
  }
  await saveMemory(workspace, identity, kept, metadata)
  return redirect(call, wayBack(visit))
}

async function refuse(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { call, sent } = visit
  if (isThere(refusal)) return redirect(call, wayBack(visit))
  if (isGone(refusal)) return showGone(visit, workspace, { values: sent, refusal })
  return refusal.code === 'version_conflict'
    ? showConflict(visit, workspace, refusal)
    : show(visit, workspace, { values: sent, refusal })
}

export const editForm = agentForm({
  operationId: 'consoleEdit',
  path,
  budget: 'writes',
  refuse,
  errors: SAVE_ERRORS,
  handle: save,
})
