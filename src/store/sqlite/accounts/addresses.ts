/** The addresses that accounts were signed in from, as hashes. */
import type { DatabaseSync } from 'node:sqlite'
import { ADDRESSES_PER_ACCOUNT } from '../../port/sessions.ts'
import { prepare } from '../engine/connection.ts'

export function prepareKnowsAddress(db: DatabaseSync) {
  const find = prepare(db, 'SELECT 1 FROM sign_in_addresses WHERE address_hash = ?')
  return (addressHash: string): boolean => find.get(addressHash) !== undefined
}

export function prepareRememberAddress(db: DatabaseSync) {
  const add = prepare(
    db,
    `INSERT INTO sign_in_addresses (address_hash, account_id, seen_at) VALUES (?, ?, ?)
     ON CONFLICT (address_hash) DO UPDATE SET seen_at = max(seen_at, excluded.seen_at)`,
  )
  const forget = prepare(
    db,
    `DELETE FROM sign_in_addresses WHERE account_id = ?1 AND address_hash NOT IN (
       SELECT address_hash FROM sign_in_addresses WHERE account_id = ?1
       ORDER BY seen_at DESC, address_hash LIMIT ${ADDRESSES_PER_ACCOUNT})`,
  )
  return (accountId: string, addressHash: string, now: number): void => {
    add.run(addressHash, accountId, now)
    forget.run(accountId)
  }
}
