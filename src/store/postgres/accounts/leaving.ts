/** Agents leave their account, one by one or because it is deleted. */
import type { SessionStore } from '../../port/sessions.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { lockAccount } from '../sessions.ts'
import { removePasskeys } from './passkeys.ts'
import { voidLink } from './passwords.ts'
import { endSessions, forgetKnown } from './recoveries.ts'

const leave = statement<{ agent_id: string }>(
  'leave_account',
  'UPDATE agents SET account_id = NULL WHERE account_id = $1 AND agent_id = $2 RETURNING agent_id',
)

const leaveAll = statement(
  'leave_account_with_all',
  'UPDATE agents SET account_id = NULL WHERE account_id = $1',
)

const drop = statement('drop_account', 'DELETE FROM accounts WHERE id = $1')

export const leavingVerbs = (
  { write, transact }: Connections,
  committed: () => void,
): Pick<SessionStore, 'leaveAgent' | 'deleteAccount'> => ({
  async leaveAgent(accountId, agentId) {
    const left = await write(leave, accountId, agentId)
    if (left.length > 0) committed()
    return left.length > 0
  },
  async deleteAccount(accountId) {
    await transact(async (ask) => {
      await ask(lockAccount, accountId)
      for (const each of [leaveAll, endSessions, removePasskeys, voidLink, forgetKnown, drop]) {
        await ask(each, accountId)
      }
    })
    committed()
  },
})
