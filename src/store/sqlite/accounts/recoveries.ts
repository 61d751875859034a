/** Accounts whose password was lost: the host's owner makes a link, and whoever holds it uses it. */
import type { DatabaseSync } from 'node:sqlite'
import type { RecoverAnswer } from '../../port/host.ts'
import type { Recovered } from '../../port/sessions.ts'
import { prepare } from '../engine/connection.ts'

const FIND = `SELECT a.id, a.email FROM account_recoveries r JOIN accounts a ON a.id = r.account_id
  WHERE r.secret_hash = ? AND r.expires_at > ?`

export function prepareFindRecovery(db: DatabaseSync) {
  const find = prepare<Recovered>(db, FIND)
  return (secretHash: string, now: number): Recovered | undefined => {
    const row = find.get(secretHash, now)
    return row && { id: row.id, email: row.email }
  }
}

export function prepareRecoveries(db: DatabaseSync) {
  const find = prepareFindRecovery(db)
  const make = prepare<{ account_id: string }>(
    db,
    `INSERT INTO account_recoveries (account_id, secret_hash, expires_at)
     SELECT id, ?2, ?3 FROM accounts WHERE email = ?1
     ON CONFLICT (account_id) DO UPDATE
     SET secret_hash = excluded.secret_hash, expires_at = excluded.expires_at
     RETURNING account_id`,
  )
  const setHash = prepare(db, 'UPDATE accounts SET password_hash = ? WHERE id = ?')
  const ended = ['account_recoveries', 'sessions', 'passkeys', 'sign_in_addresses'].map((table) =>
    prepare(db, `DELETE FROM ${table} WHERE account_id = ?`),
  )
  return {
    recoverAccount: (email: string, secretHash: string, expiresAt: number): RecoverAnswer => ({
      outcome: make.get(email, secretHash, expiresAt) ? 'made' : 'missing',
    }),
    setPassword(secretHash: string, passwordHash: string, now: number): Recovered | undefined {
      const account = find(secretHash, now)
      if (!account) return undefined
      setHash.run(passwordHash, account.id)
      for (const end of ended) end.run(account.id)
      return account
    },
  }
}
