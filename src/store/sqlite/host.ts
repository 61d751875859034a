/** What the host's owner removes of what strangers left. */
import type { DatabaseSync } from 'node:sqlite'
import type { RemoveAnswer } from '../port/host.ts'
import { prepare } from './engine/connection.ts'

/** A trigger takes it out of labels, words and counts. */
export function prepareRemoveEntry(db: DatabaseSync) {
  const remove = prepare<{ id: string }>(db, 'DELETE FROM entries WHERE id = ? RETURNING id')
  return (id: string): RemoveAnswer => ({ outcome: remove.get(id) ? 'removed' : 'missing' })
}
