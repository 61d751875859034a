/** What the host's owner does, without any credential: to an agent, and to what strangers left. */
import { BY_HOST } from '../answers.ts'
import { type EntrySummary, type HostStore, type ResetAnswer, SHOWN_CHARS } from '../port/host.ts'
import { happenings } from './controls.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'

/** First, as with everything that is done by the operator's token: it holds the credential. */
const takeOperatorToken = statement<{ agent_id: string }>(
  'take_operator_token',
  `UPDATE credentials SET token_hash = $2 WHERE agent_id = $1 AND kind = 'operator'
   RETURNING agent_id`,
)

const forgetReplacement = statement(
  'forget_replacement',
  'DELETE FROM operator_replacements WHERE agent_id = $1',
)

const leaveAccount = statement(
  'leave_account_with_token',
  'UPDATE agents SET rotated = true, account_id = NULL WHERE agent_id = $1',
)

/** Greater than every id. */
const END_OF_IDS = 'g'

const listEntries = statement<EntrySummary>(
  'list_entries',
  `SELECT id, feed, room, left(identity, ${SHOWN_CHARS}) AS identity,
     left(text, ${SHOWN_CHARS}) AS text, bytes, created_at AS "createdAt"
   FROM entries WHERE id < $1 AND ($2::TEXT IS NULL OR feed = $2) ORDER BY id DESC LIMIT $3`,
)

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

/** `most` events are kept. */
export function hostVerbs(
  { read, transact, write }: Connections,
  committed: () => void,
  most: number,
): Omit<HostStore, 'recoverAccount'> {
  const happen = happenings(most)
  return {
    async resetOperatorToken(agentId, tokenHash, now) {
      const answer = await transact(async (ask: Ask): Promise<ResetAnswer> => {
        const [taken] = await ask(takeOperatorToken, agentId, tokenHash)
        if (!taken) return { outcome: 'missing' }
        await ask(forgetReplacement, agentId)
        await ask(leaveAccount, agentId)
        await happen(ask, { agentId, by: BY_HOST }, 'replace_operator_key', now)
        return { outcome: 'replaced' }
      })
      if (answer.outcome === 'replaced') committed()
      return answer
    },
    listEntries: ({ feed, before = END_OF_IDS, limit }) =>
      read(listEntries, before, feed ?? null, limit),
    async removeEntry(id) {
      const [removed] = await write(removeEntry, id)
      if (removed) committed()
      return { outcome: removed ? 'removed' : 'missing' }
    },
  }
}
