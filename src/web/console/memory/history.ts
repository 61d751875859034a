/** The versions of a memory, each to be read as it was and to be brought back. */
import { html } from 'hono/html'
import type { VersionSummary } from '../../../store/port/keeping/memories.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { byWhom } from '../author.ts'
import { hasText } from './standing.ts'

/** Where a memory's versions belong. */
export interface Place {
  readonly agentId: string
  readonly key: string
  /** 0 where the memory was deleted. */
  readonly currentVersion: number
  readonly now: number
}

/** A page of them. */
export interface Versions {
  readonly versions: readonly VersionSummary[]
  /** `before` of the next page. */
  readonly next: number | undefined
}

export const bringBack = (
  { agentId, key, currentVersion }: Place,
  version: number,
  button: Html,
): Html => html`<form method="post" action="${agentPath(agentId)}/memory/restore">
${hidden('key', key)}${hidden('version', version)}${hidden('expectedVersion', currentVersion)}
${button}</form>`

const plainButton = (version: number): Html =>
  html`<button class="plain">Bring back<span class="away"> version ${version}</span></button>`

const numberOf = ({ agentId, key }: Place, each: VersionSummary): Html =>
  hasText(each)
    ? html`<a href="${`${memoryPath(agentId, key)}&version=${each.version}`}">Version ${each.version}</a>`
    : html`Version ${each.version}`

function lastCell(place: Place, each: VersionSummary): Html {
  if (!hasText(each)) return nothing
  if (each.version === place.currentVersion) return html`stored now`
  return bringBack(place, each.version, plainButton(each.version))
}

const row = (place: Place, each: VersionSummary): Html => html`<tr>
<th scope="row">${numberOf(place, each)}</th>
<td>${each.operation}</td>
<td>${hasText(each) ? size(each.bytes) : nothing}</td>
<td>${when(each.createdAt, place.now)}</td>
<td class="words">${byWhom(each.by)}</td>
<td>${lastCell(place, each)}</td>
</tr>`

const further = ({ agentId, key }: Place, next: number | undefined): Html =>
  next === undefined
    ? nothing
    : html`<p><a href="${`${memoryPath(agentId, key)}&before=${next}#versions`}">Earlier versions</a></p>`

export const history = (place: Place, { versions, next }: Versions): Html => html`<section
aria-labelledby="versions">
<h2 id="versions">Versions</h2>
<table class="list log">
<thead><tr><th scope="col">Version</th><th scope="col">Made by a</th><th scope="col">Size</th><th scope="col">When</th><th scope="col">By whom</th><th scope="col"><span class="away">What can be done</span></th></tr></thead>
<tbody>${versions.map((each) => row(place, each))}</tbody>
</table>
${further(place, next)}
<p class="actions"><a class="button danger" href="${memoryPath(place.agentId, place.key, '/erase')}">Erase for good</a></p>
</section>`
