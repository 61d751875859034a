/** The password of an account is changed by its owner. */
import type { DatabaseSync } from 'node:sqlite'
import type { PasswordChange } from '../../port/sessions.ts'
import { prepare } from '../engine/connection.ts'
import { prepareRememberAddress } from './addresses.ts'

export function prepareChangePassword(db: DatabaseSync) {
  const setHash = prepare<{ id: string }>(
    db,
    'UPDATE accounts SET password_hash = ? WHERE id = ? AND password_hash = ? RETURNING id',
  )
  const endOthers = prepare(db, 'DELETE FROM sessions WHERE account_id = ? AND id <> ?')
  const ended = ['account_recoveries', 'sign_in_addresses'].map((table) =>
    prepare(db, `DELETE FROM ${table} WHERE account_id = ?`),
  )
  const remember = prepareRememberAddress(db)
  return (change: PasswordChange, now: number): boolean => {
    const { accountId, replaces, passwordHash, sessionId, addressHash } = change
    if (!setHash.get(passwordHash, accountId, replaces)) return false
    endOthers.run(accountId, sessionId)
    for (const end of ended) end.run(accountId)
    remember(accountId, addressHash, now)
    return true
  }
}
