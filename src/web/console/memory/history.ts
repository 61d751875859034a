/** The versions of a memory and their authors, with links to read, compare and restore each. */
import { html } from 'hono/html'
import type { VersionSummary } from '../../../store/port/memories.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { pages } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import type { Clock } from '../../layout/words.ts'
import { eventWords } from '../agent/feed.ts'
import { takeBackPath } from '../agent/filters.ts'
import { authorId, authorWithin, byWhom } from '../author.ts'
import { listField } from '../memories/list-pane.ts'
import { type Listing, memoryIn } from '../memories/listing.ts'
import { differenceView } from './changes.ts'
import { type Change, hasText, type Versions } from './memory-view.ts'

/** The memory, and the list next to it. */
export interface Place {
  readonly agentId: string
  readonly key: string
  readonly listing: Listing
  /** 0 if the memory was deleted. */
  readonly currentVersion: number
  readonly now: number
  /** That of whoever reads it. */
  readonly clock: Clock
  /** Their address. */
  readonly me: string
}

/** Of the memory, or of a page below it. */
export const pathOf = ({ agentId, key, listing }: Place, below = ''): string =>
  memoryIn(agentId, key, listing, below)

export const restoreForm = (
  { agentId, key, listing, currentVersion }: Place,
  version: number,
  button: Html,
): Html => html`<form method="post" action="${agentPath(agentId)}/memory/restore">
${hidden('key', key)}${hidden('version', version)}${hidden('expectedVersion', currentVersion)}${listField(listing)}
${button}</form>`

/** All that the author of a version changed from then on. */
export function takeBack({ agentId, me }: Place, { by, createdAt }: VersionSummary): Html {
  if (!by) return nothing
  const path = takeBackPath(agentId, { by: authorId(by), run: by.run, since: createdAt })
  return html`<a class="button quiet" href="${path}"><span>Take back what <bdi>${authorWithin(by, me)}</bdi> changed since…</span></a>`
}

const numberOf = (place: Place, each: VersionSummary): Html =>
  hasText(each)
    ? html`<a href="${`${pathOf(place)}&version=${each.version}`}">Version ${each.version}</a>`
    : html`Version ${each.version}`

/** Shows in place what the version changed, or hides it. */
function changes(place: Place, version: number, isShown: boolean): Html {
  const path = pathOf(place)
  return isShown
    ? html`<a href="${path}#versions" aria-expanded="true">Hide<span class="away"> changes of version ${version}</span></a>`
    : html`<a href="${`${path}&changes=${version}#v${version}`}" aria-expanded="false">Changes<span class="away"> of version ${version}</span></a>`
}

function back(place: Place, { version }: VersionSummary): Html {
  if (version === place.currentVersion) return html`current`
  const button = html`<button class="plain">Restore<span class="away"> version ${version}</span></button>`
  return restoreForm(place, version, button)
}

const inPlace = (place: Place, each: VersionSummary, change: Change): Html => html`<tr
class="in-place"><td colspan="5">${differenceView(change.was, change.is)}
<p class="actions">${takeBack(place, each)}<a class="button quiet" href="${`${pathOf(place, '/compare')}&to=${each.version}`}">Compare</a></p></td></tr>`

function row(place: Place, each: VersionSummary, change: Change | undefined): Html {
  const isShown = change?.is.version === each.version
  return html`<tr id="v${each.version}">
<th scope="row">${numberOf(place, each)}</th>
<td class="words">${byWhom(each.by, place.me)} <span class="dim">${eventWords[each.operation].toLowerCase()}</span></td>
<td>${place.clock.exactly(each.createdAt)}</td>
<td>${hasText(each) ? changes(place, each.version, isShown) : nothing}</td>
<td>${hasText(each) ? back(place, each) : nothing}</td>
</tr>${isShown ? inPlace(place, each, change) : nothing}`
}

const head = html`<tr><th scope="col">Version</th><th scope="col">Who</th><th scope="col">When</th><th scope="col"><span class="away">What changed</span></th><th scope="col"><span class="away">Restore it</span></th></tr>`

/** `change`: of the version whose changes are shown. */
export const history = (
  place: Place,
  { versions, next }: Versions,
  change: Change | undefined,
): Html => html`<section
aria-labelledby="versions">
<div class="headed"><h2 id="versions">History</h2>${
  versions.filter(hasText).length > 1
    ? html`<a class="button quiet" href="${pathOf(place, '/compare')}">Compare versions</a>`
    : nothing
}</div>
<div id="history" data-live="waits"><table class="list log">
<thead>${head}</thead>
<tbody>${versions.map((each) => row(place, each, change))}</tbody>
</table></div>
${pages('Versions', undefined, next === undefined ? undefined : { path: `${pathOf(place)}&before=${next}#versions`, words: 'Earlier versions' })}
</section>`
