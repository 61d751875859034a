/** Removal of gateway entries by the host's owner. */
import type { HostStore } from '../port/host.ts'
import { type Connections, statement } from './engine/connections.ts'

const removeEntry = statement<{ id: string }>(
  'remove_entry',
  `WITH removed AS (
     DELETE FROM entries WHERE id = $1 RETURNING id, feed, room, bytes
   ),
   unlabelled AS (
     DELETE FROM entry_labels l USING removed r WHERE l.feed = r.feed AND l.id = r.id
   ),
   counted AS (
     UPDATE room_counts c SET entries = c.entries - 1, bytes = c.bytes - r.bytes
     FROM removed r WHERE c.feed = r.feed AND c.room = r.room
   )
   SELECT id FROM removed`,
)

export const removeEntryVerb =
  ({ write }: Connections, committed: () => void): HostStore['removeEntry'] =>
  async (id) => {
    const [removed] = await write(removeEntry, id)
    if (removed) committed()
    return { outcome: removed ? 'removed' : 'missing' }
  }
