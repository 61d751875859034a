/** /console/agents/<id>/memory/edit?key=…: repair a memory under compare-and-swap. */

import { html } from 'hono/html'
import { z } from 'zod'
import { type Problem, problem } from '../../../errors.ts'
import { findMemory, memoryWrite, saveMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact } from '../../../json/members.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showConflict } from './conflict.ts'
import { editor } from './editor.ts'
import { meanwhile } from './meanwhile.ts'
import { crumbOf } from './memory.ts'

const valuesOf = ({ key, text, metadata, version }: Memory): Fields => ({
  key,
  text,
  metadata,
  expectedVersion: String(version),
})

function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { agentId } = visit.identity
  const { key = '' } = typed.values
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Edit ${key}`,
    trail: [crumbOf(agentId, key)],
    here: 'Edit',
    status: typed.refusal?.status ?? 200,
    scripts: ['bytes', 'draft', 'submit', 'later'],
    body: html`<h1 class="key">${key}</h1>
<p class="lead">You are editing version ${typed.values.expectedVersion}. If the agent writes in the meantime, you see both texts and choose.</p>
${refusalNote(typed)}${meanwhile(key, typed.values.expectedVersion ?? '')}
${editor(agentId, typed, 'Save', 'Cancel')}`,
  })
}

const path = `${agentPath(':agent')}/memory/edit`

export const editPage = endpoint({
  operationId: 'consoleEditPage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ key: memoryKey }),
  errors: ['invalid_token', 'memory_not_found'],
  async handle(visit, workspace: Workspace) {
    const memory = await findMemory(workspace, visit.identity, visit.query.key)
    return show(visit, workspace, { values: valuesOf(memory) })
  },
})

function parseMetadata(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (cause) {
    const message = 'must be one JSON object'
    throw problem('invalid_body', { errors: [{ pointer: '/metadata', message }], cause })
  }
}

/** What is no whole number in digits is left for the validation to refuse. */
export const versionIn = (text: string | undefined): unknown =>
  /^\d{1,16}$/.test(text ?? '') ? Number(text) : text

const asBrowsersKeep = (text: string): string => text.replace(/\r\n?/g, '\n')

/** Browsers know one line end: what was not edited stays as it was, and the rest keeps to it. */
function lineEndsAs(stored: string, sent: string): string {
  const lines = asBrowsersKeep(sent)
  if (lines === asBrowsersKeep(stored)) return stored
  const allCrLf = stored.includes('\r\n') && !/(?<!\r)\n/.test(stored)
  return allCrLf ? lines.replaceAll('\n', '\r\n') : lines
}

/** What a form writes. Throws `invalid_body`. */
export function writeIn({ key, text, expectedVersion, ...sent }: Fields) {
  const metadata = sent.metadata || '{}'
  const write = validateBody(memoryWrite, {
    key,
    text,
    metadata: parseMetadata(metadata),
    expectedVersion: versionIn(expectedVersion),
  })
  return { write, metadata: compact(metadata) }
}

/** What is stored is what was sent: the form came twice, or somebody wrote the same. */
export const isThere = ({ code, extras }: Problem): boolean =>
  code === 'version_conflict' && extras.members?.sameContent === true

async function save(
  { call, identity, sent }: AgentVisit & Sent,
  workspace: Workspace,
): Promise<Answer> {
  const { write, metadata } = writeIn(sent)
  const stored = await findMemory(workspace, identity, write.key)
  const kept = { ...write, text: lineEndsAs(stored.text, write.text) }
  const path = memoryPath(identity.agentId, write.key)
  const isBased = stored.version === write.expectedVersion
  if (isBased && stored.text === kept.text && stored.metadata === metadata) {
    return redirect(call, `${path}&saved=unchanged`)
  }
  await saveMemory(workspace, identity, kept, metadata)
  return redirect(call, `${path}&saved`)
}

async function refuse(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { call, identity, sent } = visit
  if (isThere(refusal)) {
    return redirect(call, `${memoryPath(identity.agentId, sent.key ?? '')}&saved`)
  }
  return refusal.code === 'version_conflict'
    ? showConflict(visit, workspace)
    : show(visit, workspace, { values: sent, refusal })
}

export const editForm = endpoint({
  operationId: 'consoleEdit',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [...formForOwner, again(refuse), ...costs('writes')],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'memory_not_found',
    'version_conflict',
    'text_too_large',
    'metadata_too_large',
    'memory_quota_reached',
  ],
  handle: (visit, workspace: Workspace) => save(visit, workspace),
})
