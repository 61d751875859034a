/** /console/agents/<id>/memory/rename?key=…: another key for a memory; its versions go with it. */
import { html } from 'hono/html'
import { z } from 'zod'
import { Problem, problem } from '../../../errors.ts'
import { makeChange } from '../../../home/memories/answers.ts'
import { findMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Identity } from '../../../store/port/home.ts'
import { hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { agentPath } from '../../layout/paths.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, listingQuery, memoryIn, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { KEY_HINT, versionIn } from './editor.ts'
import { orNothing } from './gone.ts'
import { crumbOf } from './memory.ts'

const path = `${agentPath(':agent')}/memory/rename`

const TAKEN =
  'Nothing was renamed. A memory is under the new key, or what is kept of one that was deleted: choose another.'

const LATE =
  'Nothing was renamed: the memory was written in the meantime. Rename it as it is now, if you still want to.'

const sentences: Readonly<Partial<Record<Problem['code'], string>>> = {
  key_taken: TAKEN,
  version_conflict: LATE,
}

/** In the words of the form. */
function inWords(refusal: Problem): Problem {
  const detail = sentences[refusal.code]
  return detail ? problem(refusal.code, { detail }) : refusal
}

/** Shown again, it is about what is stored by then. */
async function show(
  visit: AgentVisit,
  workspace: Workspace,
  asked: string,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const { key, version } = await findMemory(workspace, identity, asked)
  const listing = listingIn(typed.values.list)
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Rename ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Rename',
    status: typed.refusal?.status ?? 200,
    scripts: ['submit'],
    body: html`<div class="narrow"><h1>Rename <span class="key">${key}</span></h1>
${refusalNote(typed)}
<p>The agent finds it under the new key only. Its text and its versions stay as they are.</p>
<form method="post" action="${agentPath(agentId)}/memory/rename" class="stack">
${hidden('key', key)}${hidden('expectedVersion', version)}${listField(listing)}
${input({ name: 'to', label: 'New key', hint: KEY_HINT }, typed)}
<p class="actions"><button>Rename</button>
<a class="button quiet" href="${memoryIn(agentId, key, listing)}">Cancel</a></p>
</form></div>`,
  })
}

export const renamePage = endpoint({
  operationId: 'consoleRenamePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: listingQuery.extend({ key: memoryKey }),
  errors: ['invalid_token'],
  handle(visit, workspace: Workspace) {
    const { key, ...listing } = visit.query
    const values = { to: key, list: queryOf(listing) }
    return orNothing(visit, workspace, key, show(visit, workspace, key, { values }))
  },
})

const asked = z.object({ key: memoryKey, to: memoryKey, expectedVersion: z.int().min(1) })

type Asked = z.output<typeof asked>

/** The form may arrive twice: the second finds it under its new key. */
async function isRenamed({ store }: Workspace, identity: Identity, { to, expectedVersion }: Asked) {
  const found = await store.readMemory(identity, to)
  return found.outcome === 'found' && found.memory.version === expectedVersion + 1
}

async function rename(workspace: Workspace, identity: Identity, sent: Asked): Promise<void> {
  const { key: from, to, expectedVersion } = sent
  const change = { verb: 'rename', from, to, expectedVersion } as const
  try {
    await makeChange(workspace, identity, change, workspace.clock())
  } catch (error) {
    const isGone = error instanceof Problem && error.code === 'memory_not_found'
    if (!isGone || !(await isRenamed(workspace, identity, sent))) throw error
  }
}

export const renameForm = endpoint({
  operationId: 'consoleRename',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again((visit: AgentVisit & Sent, workspace: Workspace, refusal) =>
      show(visit, workspace, visit.sent.key ?? '', {
        values: visit.sent,
        refusal: inWords(refusal),
      }),
    ),
    ...costs('writes'),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'memory_not_found',
    'version_conflict',
    'key_taken',
  ],
  async handle({ call, identity, sent }, workspace: Workspace) {
    const wanted = { ...sent, expectedVersion: versionIn(sent.expectedVersion) }
    const valid = validateBody(asked, wanted)
    await rename(workspace, identity, valid)
    return redirect(call, memoryIn(identity.agentId, valid.to, listingIn(sent.list)))
  },
})
