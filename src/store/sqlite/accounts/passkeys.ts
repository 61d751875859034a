/** Passkeys: reads on the reader's connection, writes inside a caller's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import {
  FIND_PASSKEY,
  type FoundPasskeyRow,
  foundPasskeyOf,
  LIST_PASSKEYS,
  type PasskeyRow,
  passkeyOf,
  transportsText,
} from '../../passkey-rows.ts'
import {
  type AddPasskeyAnswer,
  type Challenge,
  type FoundPasskey,
  type NewPasskey,
  PASSKEYS_PER_ACCOUNT,
  type Passkey,
  type PasskeyStore,
  type PasskeyUse,
  type UsePasskeyAnswer,
} from '../../port/accounts/passkeys.ts'
import { prepare } from '../engine/connection.ts'
import type { groupReads } from '../engine/reader.ts'
import type { Writer } from '../engine/writer.ts'

export function preparePasskeyReads(db: DatabaseSync) {
  const find = prepare<FoundPasskeyRow>(db, `${FIND_PASSKEY} WHERE p.id = ?`)
  const list = prepare<PasskeyRow>(
    db,
    `${LIST_PASSKEYS} WHERE account_id = ? ORDER BY created_at, id`,
  )
  return {
    findPasskey(id: string): FoundPasskey | undefined {
      const row = find.get(id)
      return row && foundPasskeyOf(row)
    },
    listPasskeys: (accountId: string): Passkey[] => list.all(accountId).map(passkeyOf),
  }
}

/** False where it was spent before. */
function prepareSpend(db: DatabaseSync) {
  const forget = prepare(db, 'DELETE FROM spent_challenges WHERE expires_at <= ?')
  const spend = prepare<{ hash: string }>(
    db,
    `INSERT INTO spent_challenges (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING
     RETURNING hash`,
  )
  return ({ hash, expiresAt }: Challenge, now: number): boolean => {
    forget.run(now)
    return spend.get(hash, expiresAt) !== undefined
  }
}

type Spend = ReturnType<typeof prepareSpend>

function prepareAdd(db: DatabaseSync, spend: Spend) {
  const count = prepare<{ had: number }>(
    db,
    'SELECT count(*) AS had FROM passkeys WHERE account_id = ?',
  )
  const add = prepare<{ id: string }>(
    db,
    `INSERT INTO passkeys (id, account_id, public_key, counter, site, transports, user_agent,
       created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
  )
  return (passkey: NewPasskey, challenge: Challenge, now: number): AddPasskeyAnswer => {
    if (!spend(challenge, now)) return { outcome: 'spent' }
    const { id, accountId, publicKey, counter, site, transports, userAgent } = passkey
    if ((count.get(accountId)?.had ?? 0) >= PASSKEYS_PER_ACCOUNT) return { outcome: 'full' }
    const via = transportsText(transports)
    const added = add.get(id, accountId, publicKey, counter, site, via, userAgent, now)
    return { outcome: added ? 'added' : 'taken' }
  }
}

function prepareUse(db: DatabaseSync, spend: Spend) {
  const use = prepare<{ id: string }>(
    db,
    `UPDATE passkeys SET counter = ?2, used_at = ?3
     WHERE id = ?1 AND (counter < ?2 OR (counter = 0 AND ?2 = 0)) RETURNING id`,
  )
  return ({ id, counter, challenge }: PasskeyUse, now: number): UsePasskeyAnswer => {
    if (!spend(challenge, now)) return { outcome: 'spent' }
    return { outcome: use.get(id, counter, now) ? 'used' : 'stale' }
  }
}

function prepareSharedSecret(db: DatabaseSync) {
  const find = prepare<{ secret: string }>(db, 'SELECT secret FROM shared_secrets WHERE name = ?')
  const keep = prepare(db, 'INSERT INTO shared_secrets (name, secret) VALUES (?, ?)')
  return (name: string, offered: string): string => {
    const found = find.get(name)
    if (!found) keep.run(name, offered)
    return found?.secret ?? offered
  }
}

export function preparePasskeyWrites(db: DatabaseSync) {
  const spend = prepareSpend(db)
  const remove = prepare<{ id: string }>(
    db,
    'DELETE FROM passkeys WHERE account_id = ? AND id = ? RETURNING id',
  )
  return {
    addPasskey: prepareAdd(db, spend),
    usePasskey: prepareUse(db, spend),
    removePasskey: (accountId: string, id: string): boolean =>
      remove.get(accountId, id) !== undefined,
    sharedSecret: prepareSharedSecret(db),
  }
}

export const passkeyVerbs = (
  reads: ReturnType<typeof preparePasskeyReads>,
  read: ReturnType<typeof groupReads>['read'],
  { submit }: Writer,
): PasskeyStore => ({
  addPasskey: (...passkey) => submit('addPasskey', ...passkey),
  findPasskey: (id) => read(() => reads.findPasskey(id)),
  listPasskeys: (accountId) => read(() => reads.listPasskeys(accountId)),
  usePasskey: (...use) => submit('usePasskey', ...use),
  removePasskey: (...passkey) => submit('removePasskey', ...passkey),
  sharedSecret: (...secret) => submit('sharedSecret', ...secret),
})
