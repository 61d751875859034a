/** The password of an account is changed by its owner. */
import type { SessionStore } from '../../port/sessions.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { endOthers } from '../sessions.ts'
import { rememberAddress } from './addresses.ts'
import { forgetKnown } from './recoveries.ts'

/** Before its sessions, as where one begins. */
const changeHash = statement<{ id: string }>(
  'change_password',
  'UPDATE accounts SET password_hash = $2 WHERE id = $1 AND password_hash = $3 RETURNING id',
)

export const voidLink = statement(
  'void_recovery',
  'DELETE FROM account_recoveries WHERE account_id = $1',
)

export const passwordVerbs = (
  { transact }: Connections,
  committed: () => void,
): Pick<SessionStore, 'changePassword'> => ({
  async changePassword(change, now) {
    const { accountId, replaces, passwordHash, sessionId, addressHash } = change
    const changed = await transact(async (ask) => {
      const [found] = await ask(changeHash, accountId, passwordHash, replaces)
      if (!found) return false
      await ask(endOthers, accountId, sessionId)
      await ask(voidLink, accountId)
      await ask(forgetKnown, accountId)
      await rememberAddress(ask, accountId, addressHash, now)
      return true
    })
    if (changed) committed()
    return changed
  },
})
