/** Accounts whose password was lost: the host's owner makes a link, and whoever holds it uses it. */
import type { HostStore } from '../../port/host.ts'
import type { Recovered, SessionStore } from '../../port/sessions.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { removePasskeys } from './passkeys.ts'

const make = statement<{ account_id: string }>(
  'make_recovery',
  `INSERT INTO account_recoveries (account_id, secret_hash, expires_at)
   SELECT id, $2, $3 FROM accounts WHERE email = $1
   ON CONFLICT (account_id) DO UPDATE
   SET secret_hash = excluded.secret_hash, expires_at = excluded.expires_at
   RETURNING account_id`,
)

const find = statement<Recovered>(
  'find_recovery',
  `SELECT a.id, a.email FROM account_recoveries r JOIN accounts a ON a.id = r.account_id
   WHERE r.secret_hash = $1 AND r.expires_at > $2`,
)

/** Of two at once, one deletes it. */
const use = statement<{ account_id: string }>(
  'use_recovery',
  `DELETE FROM account_recoveries WHERE secret_hash = $1 AND expires_at > $2
   RETURNING account_id`,
)

/** Before its sessions, as where one begins. */
const setHash = statement<Recovered>(
  'set_password',
  'UPDATE accounts SET password_hash = $2 WHERE id = $1 RETURNING id, email',
)

export const endSessions = statement('end_sessions', 'DELETE FROM sessions WHERE account_id = $1')

export const forgetKnown = statement(
  'forget_sign_in_addresses',
  'DELETE FROM sign_in_addresses WHERE account_id = $1',
)

type RecoveryVerbs = Pick<HostStore, 'recoverAccount'> &
  Pick<SessionStore, 'findRecovery' | 'setPassword'>

export const recoveryVerbs = (
  { read, write, transact }: Connections,
  committed: () => void,
): RecoveryVerbs => ({
  async recoverAccount(email, secretHash, expiresAt) {
    const [made] = await write(make, email, secretHash, expiresAt)
    if (made) committed()
    return { outcome: made ? 'made' : 'missing' }
  },
  async findRecovery(secretHash, now) {
    const [found] = await read(find, secretHash, now)
    return found
  },
  async setPassword(secretHash, passwordHash, now) {
    const account = await transact(async (ask) => {
      const [used] = await ask(use, secretHash, now)
      if (!used) return undefined
      const [found] = await ask(setHash, used.account_id, passwordHash)
      await ask(endSessions, used.account_id)
      await ask(removePasskeys, used.account_id)
      await ask(forgetKnown, used.account_id)
      return found
    })
    if (account) committed()
    return account
  },
})
