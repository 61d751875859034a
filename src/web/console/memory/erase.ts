/** /console/agents/<id>/memory/erase?key=…: texts that are to be gone for good. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { eraseVersions } from '../../../home/memories/erase-memory.ts'
import { findVersions } from '../../../home/memories/versions.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Erasure, VersionSummary } from '../../../store/port/keeping/memories.ts'
import { hidden, input, refusalNote, select, type Typed } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { relation } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import { listField } from '../memories/list-pane.ts'
import {
  type Listing,
  listingIn,
  listingQuery,
  listPath,
  memoryIn,
  queryOf,
} from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { orNothing } from './gone.ts'
import { crumbOf } from './memory.ts'
import { hasText } from './standing.ts'

const path = `${agentPath(':agent')}/memory/erase`

const HISTORY = 'Its history: every version but the newest'
const ALL = 'All of it: what is stored now, and its history'

/** More than are kept of a memory, unless their number has no limit. */
const MOST_OFFERED = 1_000

/** The newest is what is stored, or was last: with it goes all, and without it the history. */
const choicesOf = ([, ...earlier]: readonly VersionSummary[], now: number) => [
  { value: 'history', label: HISTORY },
  ...earlier.filter(hasText).map(({ version, createdAt }) => ({
    value: String(version),
    label: `Version ${version} alone, of ${relation((createdAt - now) / 1000)}`,
  })),
  { value: 'all', label: ALL },
]

const erasure = z
  .strictObject({
    key: memoryKey,
    versions: z.union([z.enum(['history', 'all']), z.string().regex(/^[1-9]\d{0,14}$/)], {
      error: 'must be one of these',
    }),
    typed: z.string().default(''),
  })
  .refine(({ key, typed }) => typed === key, {
    path: ['typed'],
    error: 'must be the key, exactly as it stands above',
  })

const asked = (versions: z.output<typeof erasure>['versions']): Erasure =>
  versions === 'history' || versions === 'all' ? versions : [Number(versions)]

type Choices = ReturnType<typeof choicesOf>

interface Of {
  readonly agentId: string
  readonly key: string
  /** To which it leads back. */
  readonly listing: Listing
}

const form = ({ agentId, key, listing }: Of, choices: Choices, typed: Typed): Html => html`<form
method="post" action="${agentPath(agentId)}/memory/erase" class="stack">
${hidden('key', key)}${listField(listing)}
${select({ name: 'versions', label: 'What is to be erased', choices }, typed)}
${input({ name: 'typed', label: 'The key, typed once more' }, typed)}
<p class="actions"><button class="danger">Erase for good</button>
<a class="button quiet" href="${memoryIn(agentId, key, listing)}">Cancel</a></p>
</form>`

async function show(
  visit: AgentVisit,
  workspace: Workspace,
  key: string,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const listing = listingIn(typed.values.list)
  const { versions } = await findVersions(workspace, identity, key, {
    before: undefined,
    limit: MOST_OFFERED,
  })
  if (versions.length === 0) throw problem('memory_not_found')
  const choices = choicesOf(versions, workspace.clock())
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Erase ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Erase',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow"><h1>Erase <span class="key">${key}</span></h1>
${refusalNote(typed)}
<div class="note warn"><p><strong>Nothing brings it back.</strong> What is erased is gone for you, for the agent and for whoever runs this service; of a version only its number stays, and in the log that there was one. Copies that were made before stay where they are: exports, and backups. To delete the memory so that it can be brought back, go back and choose “Delete”.</p></div>
${form({ agentId, key, listing }, choices, typed)}</div>`,
  })
}

export const erasePage = endpoint({
  operationId: 'consoleErasePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: listingQuery.extend({ key: memoryKey, versions: z.string().optional() }),
  errors: ['invalid_token'],
  handle(visit, workspace: Workspace) {
    const { key, versions = 'history', ...listing } = visit.query
    const values = { versions, list: queryOf(listing) }
    return orNothing(visit, workspace, key, show(visit, workspace, key, { values }))
  },
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
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', 'memory_not_found', 'version_current'],
  async handle({ call, identity, sent }, workspace: Workspace) {
    const { list, ...request } = sent
    const { key, versions } = validateBody(erasure, request)
    await eraseVersions(workspace, identity, key, asked(versions))
    const { agentId } = identity
    const listing = listingIn(list)
    const left = versions === 'all' ? listPath(agentId, listing) : memoryIn(agentId, key, listing)
    return redirect(call, left)
  },
})
