/** /console/agents/<id>/memory/compare?key=…: what changed between any two versions of a memory. */
import { html } from 'hono/html'
import type { z } from 'zod'
import { findVersion } from '../../../home/memories/memory.ts'
import { findVersions } from '../../../home/memories/versions.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { membersOf } from '../../../json/members.ts'
import { sameValue } from '../../../json/same-value.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Memory, VersionSummary } from '../../../store/port/keeping/memories.ts'
import { hidden, select } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import { listingQuery, memoryIn, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { changeView } from './changes.ts'
import { orNothing } from './gone.ts'
import { bringBack, operationWords, type Place } from './history.ts'
import { crumbOf } from './memory.ts'
import { findMemoryView, hasText } from './memory-view.ts'

interface ChangedMember {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const same = ({ before, after }: ChangedMember): boolean =>
  before !== undefined && after !== undefined && sameValue(before, after)

/** Both are valid JSON objects. */
function changedMembers(before: string, after: string): ChangedMember[] {
  const [was, is] = [membersOf(before), membersOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  return names
    .map((name) => ({ name, before: was.get(name), after: is.get(name) }))
    .filter((each) => !same(each))
}

const value = (json: string | undefined, mark: 'del' | 'ins'): Html => {
  if (json === undefined) return html`<span class="dim">nothing</span>`
  return mark === 'del'
    ? html`<del><code>${json}</code></del>`
    : html`<ins><code>${json}</code></ins>`
}

const row = ({ name, before, after }: ChangedMember): Html => html`<tr>
<th scope="row"><bdi>${name}</bdi></th>
<td class="words" data-name="Before">${value(before, 'del')}</td>
<td class="words" data-name="After">${value(after, 'ins')}</td>
</tr>`

function metadataView(before: string, after: string): Html {
  const members = changedMembers(before, after)
  if (members.length === 0) return nothing
  return html`<h2>Metadata</h2>
<table class="list members">
<thead><tr><th scope="col">Name</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${members.map(row)}</tbody>
</table>`
}

const version = queryInteger({ minimum: 1 }).optional()

const query = listingQuery.extend({ key: memoryKey, from: version, to: version })

type Asked = z.output<typeof query>

/** More versions than a memory usually has, so that one page is enough. */
const LISTED = 100

/** A page of the versions before this one, newest first. */
type Below = (version: number | undefined, limit: number) => ReturnType<typeof findVersions>

/** The previous version with a text, if it is kept. */
async function textBefore(below: Below, version: number): Promise<number | undefined> {
  for (let before: number | undefined = version; before !== undefined; ) {
    const page = await below(before, LISTED)
    const found = page.versions.find(hasText)
    if (found) return found.version
    before = page.next
  }
  return undefined
}

/** By default, the newest version and the one before it. */
async function findPair(
  workspace: Workspace,
  { identity }: AgentVisit,
  { from, to, key }: Asked,
  { newest, below }: { newest: number | undefined; below: Below },
) {
  const after = to ?? newest
  const earlier = from ?? (after === undefined ? undefined : await textBefore(below, after))
  const read = async (version: number | undefined): Promise<Memory | undefined> =>
    version === undefined ? undefined : findVersion(workspace, identity, key, version)
  return { was: await read(earlier), is: await read(after) }
}

/** The newest versions, and the two that are shown, with their authors. */
async function findListed(below: Below, shown: readonly (Memory | undefined)[]) {
  const { versions, next } = await below(undefined, LISTED)
  const further = shown.flatMap((each) =>
    each && next !== undefined && each.version < next ? [each.version + 1] : [],
  )
  const pages = await Promise.all(further.map((version) => below(version, LISTED)))
  return [...versions, ...pages.flatMap((page) => page.versions)]
}

const choicesOf = (listed: readonly VersionSummary[], shown: readonly (Memory | undefined)[]) => {
  const listedOnes = listed.filter(hasText).map(({ version }) => version)
  const numbers = new Set([...listedOnes, ...shown.flatMap((each) => each?.version ?? [])])
  return [...numbers]
    .toSorted((a, b) => b - a)
    .map((version) => ({ value: String(version), label: `Version ${version}` }))
}

const chooser = (
  { key, ...listing }: Asked,
  listed: readonly VersionSummary[],
  was?: Memory,
  is?: Memory,
): Html => {
  const choices = choicesOf(listed, [was, is])
  const values = { from: String(was?.version), to: String(is?.version) }
  return html`<form method="get" class="search pair">
${hidden('key', key)}${[...new URLSearchParams(queryOf(listing))].map(([name, value]) => hidden(name, value))}
${select({ name: 'from', label: 'From', choices }, { values })}
${select({ name: 'to', label: 'To', choices }, { values })}
<button class="quiet">Compare</button>
</form>`
}

const line = (listed: readonly VersionSummary[], { version, updatedAt }: Memory, now: number) => {
  const summary = listed.find((each) => each.version === version)
  const made = summary
    ? html`${operationWords[summary.operation]} ${when(updatedAt, now)}. ${byWhom(summary.by)}.`
    : html`Written ${when(updatedAt, now)}.`
  return html`<dt>Version ${version}</dt><dd>${made}</dd>`
}

const back = (place: Place, { version }: Memory): Html =>
  version === place.currentVersion
    ? nothing
    : bringBack(place, version, html`<button class="quiet">Bring back version ${version}</button>`)

const comparison = (
  place: Place,
  listed: readonly VersionSummary[],
  was: Memory,
  is: Memory,
): Html => html`<dl
class="facts">${line(listed, was, place.now)}${line(listed, is, place.now)}</dl>
${changeView(was.text, is.text)}
${metadataView(was.metadata, is.metadata)}
<div class="actions">${back(place, was)}${back(place, is)}
<a class="button quiet" href="${memoryIn(place.agentId, place.key, place.listing)}">Back to the memory</a></div>`

const alone = html`<p class="empty">No other version of it is kept to compare with.</p>`

async function show(visit: AgentVisit, workspace: Workspace, asked: Asked) {
  const { key, from: _, to: __, ...listing } = asked
  const { agentId } = visit.identity
  const view = await findMemoryView(workspace, visit.identity, { key })
  const below: Below = (before, limit) =>
    findVersions(workspace, visit.identity, key, { before, limit })
  const newest = view.shown?.version
  const { was, is } = await findPair(workspace, visit, asked, { newest, below })
  const listed = await findListed(below, [was, is])
  const currentVersion = view.current?.version ?? 0
  const place = { agentId, key, listing, currentVersion, now: workspace.clock() }
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Changes in ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Changes',
    body: html`<h1 class="key">${key}</h1>
${chooser(asked, listed, was, is)}
${was && is ? comparison(place, listed, was, is) : alone}`,
  })
}

export const comparePage = agentPage({
  operationId: 'consoleCompare',
  path: `${agentPath(':agent')}/memory/compare`,
  query,
  errors: ['version_not_found', 'version_gone'],
  handle: (visit, workspace) =>
    orNothing(visit, workspace, { key: visit.query.key }, show(visit, workspace, visit.query)),
})
