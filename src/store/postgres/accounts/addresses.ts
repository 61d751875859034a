/** The addresses that accounts were signed in from, as hashes. */
import { ADDRESSES_PER_ACCOUNT } from '../../port/sessions.ts'
import { type Ask, statement } from '../engine/connections.ts'

const findAddress = statement<{ found: number }>(
  'find_address',
  'SELECT 1 AS found FROM sign_in_addresses WHERE address_hash = $1',
)

const addAddress = statement(
  'add_address',
  `INSERT INTO sign_in_addresses (address_hash, account_id, seen_at) VALUES ($1, $2, $3)
   ON CONFLICT (address_hash)
   DO UPDATE SET seen_at = greatest(sign_in_addresses.seen_at, excluded.seen_at)`,
)

const forgetOldest = statement(
  'forget_oldest_addresses',
  `DELETE FROM sign_in_addresses WHERE account_id = $1 AND address_hash NOT IN (
     SELECT address_hash FROM sign_in_addresses WHERE account_id = $1
     ORDER BY seen_at DESC, address_hash LIMIT ${ADDRESSES_PER_ACCOUNT})`,
)

export const knowsAddress = async (read: Ask, addressHash: string): Promise<boolean> =>
  (await read(findAddress, addressHash)).length > 0

export async function rememberAddress(
  ask: Ask,
  accountId: string,
  addressHash: string,
  now: number,
): Promise<void> {
  await ask(addAddress, addressHash, accountId, now)
  await ask(forgetOldest, accountId)
}
