/** What the host's owner does to an agent, without any credential of it. */
import { BY_HOST } from '../answers.ts'
import type { HostStore, ResetAnswer } from '../port/host.ts'
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
  'leave_account',
  'UPDATE agents SET rotated = true, account_id = NULL WHERE agent_id = $1',
)

/** `most` events are kept. */
export function hostVerbs(
  { transact }: Connections,
  committed: () => void,
  most: number,
): HostStore {
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
  }
}
