/** A health check: a write that commits. */
import { type Ask, statement } from './connections.ts'

const beat = statement(
  'beat',
  `INSERT INTO heartbeat (id, written_at) VALUES (1, $1)
   ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at`,
)

export async function writeHeartbeat(ask: Ask, now: number): Promise<void> {
  await ask(beat, now)
}
