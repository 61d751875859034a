/** /console/agents/<id>/memory?key=…: one memory as the agent wrote it, what it was, and what can be done. */

import { html } from 'hono/html'
import { z } from 'zod'
import { memoryKey } from '../../../home/schemas.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Memory, VersionSummary } from '../../../store/port/keeping/memories.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Crumb, type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { byWhom } from '../author.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { bringBack, history, type Place } from './history.ts'
import { type As, textView } from './shown/rendered.ts'
import { type Asked, findStanding, type Standing } from './standing.ts'

/** Of the pages below a memory's own. */
export const crumbOf = (agentId: string, key: string): Crumb => ({
  name: key,
  path: memoryPath(agentId, key),
})

export const facts = (memory: Memory, now: number): Html =>
  html`<p class="dim">Version ${memory.version} · ${size(Buffer.byteLength(memory.text))} · written ${when(memory.updatedAt, now)} · created ${when(memory.createdAt, now)}</p>`

export const metadataOf = ({ metadata }: Memory): Html =>
  metadata === '{}'
    ? nothing
    : html`<h2>Metadata</h2><pre class="text" dir="auto">${metadata}</pre>`

/** Of a version that was, and of the present one. */
const pathOf = ({ agentId, key, currentVersion }: Place, { version }: Memory): string =>
  `${memoryPath(agentId, key)}${version === currentVersion ? '' : `&version=${version}`}`

const content = (place: Place, memory: Memory, as: As): Html => html`${facts(memory, place.now)}
${textView(memory.text, as, pathOf(place, memory))}
${metadataOf(memory)}`

const editing = ({ agentId, key }: Place): Html => html`<p class="actions"><a
class="button" href="${memoryPath(agentId, key, '/edit')}">Edit</a>
<a class="button quiet" href="${memoryPath(agentId, key, '/delete')}">Delete</a></p>`

/** The present memory, or one that was. */
function shownMemory(place: Place, shown: Memory, as: As): Html {
  if (shown.version === place.currentVersion)
    return html`${content(place, shown, as)}${editing(place)}`
  const button = html`<button>Bring back version ${shown.version}</button>`
  return html`${content(place, shown, as)}<div class="actions">${bringBack(place, shown.version, button)}</div>`
}

const savedNote = ({ version }: Memory): Html =>
  html`<div class="note good" role="status"><p>Saved as version ${version}.</p></div>`

const pastNote = ({ agentId, key, currentVersion }: Place, { version }: Memory): Html =>
  html`<div class="note warn"><p>This is version ${version} as it was. <a href="${memoryPath(agentId, key)}">Version ${currentVersion}</a> is stored now.</p></div>`

/** The newest version of what was deleted is its delete. */
const deletedNote = (last: VersionSummary, shown: Memory | undefined, now: number): Html =>
  html`<div class="note warn" role="status"><p><strong>This memory was deleted ${when(last.createdAt, now)}.</strong> ${byWhom(last.by)}. ${
    shown ? html`This is version ${shown.version}, as it was before.` : html`No text of it is kept.`
  }</p></div>`

function note(place: Place, { current, newest, shown }: Standing, saved: boolean): Html {
  if (!current) return newest ? deletedNote(newest, shown, place.now) : nothing
  if (shown && shown !== current) return pastNote(place, shown)
  return saved ? savedNote(current) : nothing
}

/** The page, also shown again by what refuses to change the memory. */
export async function showMemory(
  visit: AgentVisit,
  workspace: Workspace,
  asked: Asked & { readonly saved?: string | undefined; readonly as?: As },
  typed: Typed,
): Promise<Answer> {
  const { key, saved, as } = asked
  const { identity } = visit
  const { agentId } = identity
  const standing = await findStanding(workspace, identity, asked)
  const { current, shown, listed } = standing
  const place = { agentId, key, currentVersion: current?.version ?? 0, now: workspace.clock() }
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: key,
    status: typed.refusal?.status ?? 200,
    body: html`<h1 class="key">${key}</h1>
${refusalNote(typed)}
${note(place, standing, saved !== undefined)}
${shown ? shownMemory(place, shown, as) : nothing}
${history(place, listed)}`,
  })
}

const version = queryInteger({ minimum: 1 }).optional()

export const memoryPage = endpoint({
  operationId: 'consoleMemory',
  method: 'GET',
  path: `${agentPath(':agent')}/memory`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({
    key: memoryKey,
    version,
    before: version,
    saved: z.string().optional(),
    as: z.literal('source').optional(),
  }),
  errors: ['invalid_token', 'memory_not_found', 'version_not_found', 'version_gone'],
  handle: (visit, workspace: Workspace) => showMemory(visit, workspace, visit.query, untouched),
})
