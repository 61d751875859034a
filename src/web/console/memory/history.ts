/** The versions of a memory and their authors, with links to read, compare and restore each. */
import { html } from 'hono/html'
import type { Operation, VersionSummary } from '../../../store/port/keeping/memories.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { byWhom } from '../author.ts'
import { listField } from '../memories/list-pane.ts'
import { type Listing, memoryIn } from '../memories/listing.ts'
import { hasText, type Versions } from './memory-view.ts'

export const operationWords: Readonly<Record<Operation, string>> = {
  write: 'Written',
  patch: 'Changed in part',
  append: 'Added to',
  edit: 'Edited',
  delete: 'Deleted',
  restore: 'Brought back',
  rename: 'Renamed',
  import: 'Imported',
}

/** The memory, and the list next to it. */
export interface Place {
  readonly agentId: string
  readonly key: string
  readonly listing: Listing
  /** 0 if the memory was deleted. */
  readonly currentVersion: number
  readonly now: number
}

export const bringBack = (
  { agentId, key, listing, currentVersion }: Place,
  version: number,
  button: Html,
): Html => html`<form method="post" action="${agentPath(agentId)}/memory/restore">
${hidden('key', key)}${hidden('version', version)}${hidden('expectedVersion', currentVersion)}${listField(listing)}
${button}</form>`

const numberOf = ({ agentId, key, listing }: Place, each: VersionSummary): Html =>
  hasText(each)
    ? html`<a href="${`${memoryIn(agentId, key, listing)}&version=${each.version}`}">Version ${each.version}</a>`
    : html`Version ${each.version}`

/** The changes since the previous version, if that is kept. */
const changes = (
  { agentId, key, listing }: Place,
  { version }: VersionSummary,
  first: boolean,
): Html =>
  first
    ? nothing
    : html`<a href="${`${memoryIn(agentId, key, listing, '/compare')}&to=${version}`}">Changes<span class="away"> made by version ${version}</span></a>`

function back(place: Place, { version }: VersionSummary): Html {
  if (version === place.currentVersion) return html`stored now`
  const button = html`<button class="plain">Bring back<span class="away"> version ${version}</span></button>`
  return bringBack(place, version, button)
}

const row = (place: Place, each: VersionSummary, first: boolean): Html => html`<tr>
<th scope="row">${numberOf(place, each)}</th>
<td>${operationWords[each.operation]}</td>
<td>${hasText(each) ? size(each.bytes) : nothing}</td>
<td>${when(each.createdAt, place.now)}</td>
<td class="words">${byWhom(each.by)}</td>
<td>${hasText(each) ? changes(place, each, first) : nothing}</td>
<td>${hasText(each) ? back(place, each) : nothing}</td>
</tr>`

const further = ({ agentId, key, listing }: Place, next: number | undefined): Html =>
  next === undefined
    ? nothing
    : html`<p class="actions"><a class="button quiet" href="${`${memoryIn(agentId, key, listing)}&before=${next}#versions`}">Earlier versions</a></p>`

const head = html`<tr><th scope="col">Version</th><th scope="col">What</th><th scope="col">Size</th><th scope="col">When</th><th scope="col">By whom</th><th scope="col"><span class="away">What changed</span></th><th scope="col"><span class="away">Bring it back</span></th></tr>`

export const history = (place: Place, { versions, next }: Versions): Html => {
  const { agentId, key, listing } = place
  return html`<section
aria-labelledby="versions">
<div class="headed"><h2 id="versions">History</h2>${
    versions.filter(hasText).length > 1
      ? html`<a class="button quiet" href="${memoryIn(agentId, key, listing, '/compare')}">Compare versions</a>`
      : nothing
  }</div>
<div id="history" data-live><table class="list log">
<thead>${head}</thead>
<tbody>${versions.map((each, at) =>
    row(place, each, next === undefined && !versions.slice(at + 1).some(hasText)),
  )}</tbody>
</table></div>
${further(place, next)}
<p class="actions"><a class="button danger" href="${memoryIn(agentId, key, listing, '/erase')}">Erase for good</a></p>
</section>`
}
