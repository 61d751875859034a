/** A health check: a write that commits. */
import type { DatabaseSync } from 'node:sqlite'
import { prepare } from './connection.ts'

export function prepareHeartbeat(db: DatabaseSync): (now: number) => void {
  const beat = prepare(
    db,
    'INSERT INTO heartbeat (id, written_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at',
  )
  return (now) => {
    beat.run(now)
  }
}
