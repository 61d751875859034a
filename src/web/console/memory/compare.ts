/** /console/agents/<id>/memory/compare?key=…: what changed between any two versions of a memory. */
import { html } from 'hono/html'
import type { z } from 'zod'
import { findVersions } from '../../../home/memories/versions.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Memory, VersionSummary } from '../../../store/port/memories.ts'
import { hidden, select } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { pages } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { eventWords } from '../agent/feed.ts'
import { clockOf } from '../agent/filters.ts'
import { showAgentPage } from '../agent-page.ts'
import { authorName, byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import { listingQuery, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { differenceView } from './changes.ts'
import { orNothing } from './gone.ts'
import { type Place, pathOf, restoreForm, takeBack } from './history.ts'
import { crumbOf } from './memory.ts'
import { type Change, findChange, findMemoryView, hasText, MOST_VERSIONS } from './memory-view.ts'

const version = queryInteger({ minimum: 1 }).optional()

const query = listingQuery.extend({ key: memoryKey, from: version, to: version })

type Asked = z.output<typeof query>

/** Every version with a text that is kept, newest first; of too many the newest, and those around `to`. */
async function findTexts(
  workspace: Workspace,
  { identity }: AgentVisit,
  { key, from, to = 0 }: Asked,
) {
  const below = (before: number | undefined, limit: number) =>
    findVersions(workspace, identity, key, { before, limit })
  const { versions, next = 0 } = await below(undefined, MOST_VERSIONS)
  const beyond = [to, from ?? to].filter((each) => each > 0 && each < next)
  const around = await Promise.all(beyond.map((each) => below(each + 1, 2)))
  const all = [...versions, ...around.flatMap((page) => page.versions)].filter(hasText)
  return [...new Map(all.map((each) => [each.version, each])).values()].toSorted(
    (a, b) => b.version - a.version,
  )
}

interface Shown {
  readonly place: Place
  readonly asked: Asked
  readonly texts: readonly VersionSummary[]
  readonly change: Change
}

const chooser = ({ place, asked, texts, change }: Shown): Html => {
  const { key, from: _, to: __, ...listing } = asked
  const choices = texts.map(({ version, createdAt, by }) => ({
    value: String(version),
    label: `Version ${version} · ${place.clock.moment(createdAt)} · ${authorName(by, place.me)}`,
  }))
  const values = { from: String(change.was?.version), to: String(change.is.version) }
  return html`<form method="get" class="search pair">
${hidden('key', key)}${[...new URLSearchParams(queryOf(listing))].map(([name, value]) => hidden(name, value))}
${select({ name: 'from', label: 'From', choices }, { values })}
${select({ name: 'to', label: 'To', choices }, { values })}
<button class="quiet">Compare</button>
</form>`
}

/** To the change before this one, and to the next. */
function steps({ place, texts, change }: Shown): Html {
  const at = texts.findIndex(({ version }) => version === change.is.version)
  const link = (to: VersionSummary | undefined, words: string) =>
    to && { path: `${pathOf(place, '/compare')}&to=${to.version}`, words }
  return pages(
    'Changes',
    link(texts[at + 1], 'Previous change'),
    link(texts[at - 1], 'Next change'),
  )
}

const line = ({ texts, place: { clock, me } }: Shown, { version, updatedAt }: Memory) => {
  const summary = texts.find((each) => each.version === version)
  const made = summary
    ? html`${byWhom(summary.by, me)} <span class="dim">${eventWords[summary.operation].toLowerCase()}</span>`
    : nothing
  return html`<dt>Version ${version}</dt><dd>${made} ${clock.exactly(updatedAt)}</dd>`
}

const restore = (place: Place, memory: Memory | undefined): Html =>
  !memory || memory.version === place.currentVersion
    ? nothing
    : restoreForm(
        place,
        memory.version,
        html`<button class="quiet">Restore version ${memory.version}</button>`,
      )

function comparison(shown: Shown): Html {
  const { place, change, texts } = shown
  const { was, is } = change
  const made = texts.find(({ version }) => version === is.version)
  return html`<dl class="facts">${was ? line(shown, was) : nothing}${line(shown, is)}</dl>
<div class="actions">${made ? takeBack(place, made) : nothing}${restore(place, was)}${restore(place, is)}</div>
${was ? nothing : html`<p class="dim">No earlier version is kept, so all of it is shown as new.</p>`}
${differenceView(was, is)}`
}

async function show(visit: AgentVisit, workspace: Workspace, asked: Asked) {
  const { key, from, to, ...listing } = asked
  const { call, identity, session } = visit
  const { agentId } = identity
  const [{ current, shown }, texts] = await Promise.all([
    findMemoryView(workspace, identity, { key }),
    findTexts(workspace, visit, asked),
  ])
  const after = to ?? shown?.version
  const change = after && (await findChange(workspace, identity, key, { from, to: after }))
  const currentVersion = current?.version ?? 0
  const [now, clock] = [workspace.clock(), clockOf(call)]
  const place = { agentId, key, listing, currentVersion, now, clock, me: session.email }
  const seen = change ? { place, asked, texts, change } : undefined
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Changes in ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Changes',
    body: html`<div class="headed"><h1 class="key">${key}</h1>${seen ? steps(seen) : nothing}</div>
${
  seen
    ? html`${chooser(seen)}${comparison(seen)}`
    : html`<p class="empty">No version of this memory is kept.</p>`
}`,
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
