/** Removal of gateway entries by the host's owner. */
import type { DatabaseSync } from 'node:sqlite'
import type { RemoveAnswer } from '../port/host.ts'
import { prepare } from './engine/connection.ts'

/** A trigger updates labels, words and counters. */
export function prepareRemoveEntry(db: DatabaseSync) {
  const remove = prepare<{ id: string }>(db, 'DELETE FROM entries WHERE id = ? RETURNING id')
  return (id: string): RemoveAnswer => ({ outcome: remove.get(id) ? 'removed' : 'missing' })
}
