/** /console/entries/remove: an administrator removes what a stranger left in a room. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { admin } from '../../pipeline/guards/session.ts'
import type { EntrySummary } from '../../store/port/host.ts'
import { NIL_ID, successor, UUID } from '../../uuid.ts'
import { hidden } from '../layout/fields.ts'
import { nothing } from '../layout/page.ts'
import { REMOVE_ENTRY, ROOMS } from '../layout/paths.ts'
import { accountTwoStep } from './two-step.ts'
import type { Workspace } from './workspace.ts'

async function entryOf({ entries }: Workspace, id = ''): Promise<EntrySummary> {
  // The newest before the next id is the entry itself.
  const before = UUID.test(id) ? successor(id) : NIL_ID
  const [entry] = await entries.listEntries({ before, limit: 1 })
  if (entry?.id !== id) throw problem('not_found', { detail: 'This entry has become compost.' })
  return entry
}

const roomOf = ({ room }: EntrySummary): string => `/rooms/${room}`

export const removeEntry = accountTwoStep({
  operationId: 'consoleRemoveEntry',
  path: REMOVE_ENTRY,
  query: z.object({ entry: z.string() }),
  who: admin,
  async view(_visit, workspace, { values }) {
    const entry = await entryOf(workspace, values.entry)
    return {
      title: 'Remove an entry',
      place: 'rooms',
      trail: [{ name: 'Rooms', path: ROOMS }],
      heading: html`Remove an entry`,
      lead: 'It disappears from every room, feed and search, for good. Open streams have already received it.',
      about: html`${
        entry.text
          ? html`<blockquote dir="auto">${entry.text}</blockquote>
`
          : nothing
      }<p>Left by <bdi>${entry.identity}</bdi>.</p>`,
      fields: hidden('entry', entry.id),
      button: 'Remove it for good',
      danger: true,
      cancel: roomOf(entry),
    }
  },
  async send({ sent }, workspace) {
    const entry = await entryOf(workspace, sent.entry)
    await workspace.entries.removeEntry(entry.id)
    return roomOf(entry)
  },
})
