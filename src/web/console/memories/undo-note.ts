/** What was deleted just now, and the one button that brings it back. */
import { html } from 'hono/html'
import { hidden } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import type { Chosen } from './chosen.ts'
import { type Listing, listPath, queryOf } from './listing.ts'

const DELETED = /^([\w.-]{1,100})~(\d{1,15})$/

/** The list, which says what it was deleted from and what each was before. */
export function afterDelete(agentId: string, gone: readonly Chosen[], listing: Listing): string {
  const path = listPath(agentId, listing)
  const deleted = gone.map(({ key, version }) => `${key}~${version}`).join(',')
  return `${path}${path.includes('?') ? '&' : '?'}deleted=${deleted}`
}

/** As `afterDelete` wrote it. */
export const deletedIn = (deleted = ''): readonly Chosen[] =>
  deleted.split(',').flatMap((each) => {
    const [, key, version] = DELETED.exec(each) ?? []
    return key && version ? [{ key, version: Number(version) }] : []
  })

const named = (gone: readonly Chosen[]): Html =>
  gone.length === 1
    ? html`<code>${gone[0]?.key}</code>`
    : html`${plural(gone.length, 'memory', 'memories')}`

export const undoNote = (agentId: string, gone: readonly Chosen[], listing: Listing): Html =>
  note(
    'good',
    html`<form method="post" action="${agentPath(agentId)}/memories/undo" class="undo">
<p>Deleted ${named(gone)}. The versions are kept: you and the agent can bring back what was there.</p>
${gone.map(({ key, version }) => hidden(`memory.${key}`, version))}${hidden('list', queryOf(listing))}
<button class="quiet">Undo</button></form>`,
  )
