/** What the host's owner does, without any credential: to an agent, and to what strangers left. */
import type { DatabaseSync } from 'node:sqlite'
import { BY_HOST } from '../answers.ts'
import {
  type EntriesWanted,
  type EntrySummary,
  type RemoveAnswer,
  type ResetAnswer,
  SHOWN_CHARS,
} from '../port/host.ts'
import { prepare } from './engine/connection.ts'
import type { Happen } from './keeping/events.ts'

function prepareReset(db: DatabaseSync, happen: Happen) {
  const replace = prepare<{ agent_id: string }>(
    db,
    `UPDATE credentials SET token_hash = ? WHERE agent_id = ? AND kind = 'operator'
     RETURNING agent_id`,
  )
  const forget = prepare(db, 'DELETE FROM operator_replacements WHERE agent_id = ?')
  const leaveAccount = prepare(db, 'UPDATE agents SET rotated = 1, account_id = NULL WHERE id = ?')
  return (agentId: string, tokenHash: string, now: number): ResetAnswer => {
    if (!replace.get(tokenHash, agentId)) return { outcome: 'missing' }
    forget.run(agentId)
    leaveAccount.run(agentId)
    happen(agentId, 'replace_operator_key', BY_HOST, now)
    return { outcome: 'replaced' }
  }
}

/** Above every id. */
const END_OF_IDS = 'g'

export function prepareHostReads(db: DatabaseSync) {
  const entries = prepare<EntrySummary>(
    db,
    `SELECT id, feed, room, substr(identity, 1, ${SHOWN_CHARS}) AS identity,
       substr(text, 1, ${SHOWN_CHARS}) AS text, bytes, created_at AS createdAt
     FROM entries WHERE id < ?1 AND (?2 IS NULL OR feed = ?2) ORDER BY id DESC LIMIT +?3`,
  )
  return {
    listEntries: ({ feed, before = END_OF_IDS, limit }: EntriesWanted): EntrySummary[] =>
      entries.all(before, feed ?? null, limit).map((row) => ({ ...row })),
  }
}

/** A trigger takes it out of labels, words and counts. */
function prepareRemove(db: DatabaseSync) {
  const remove = prepare<{ id: string }>(db, 'DELETE FROM entries WHERE id = ? RETURNING id')
  return (id: string): RemoveAnswer => ({ outcome: remove.get(id) ? 'removed' : 'missing' })
}

export const prepareHostWrites = (db: DatabaseSync, happen: Happen) => ({
  resetOperatorToken: prepareReset(db, happen),
  removeEntry: prepareRemove(db),
})
