/** Passkeys. */

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
  type Challenge,
  PASSKEYS_PER_ACCOUNT,
  type PasskeyStore,
} from '../../port/accounts/passkeys.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { lockAccount } from '../sessions.ts'

const findPasskey = statement<FoundPasskeyRow>('find_passkey', `${FIND_PASSKEY} WHERE p.id = $1`)

const listPasskeys = statement<PasskeyRow>(
  'list_passkeys',
  `${LIST_PASSKEYS} WHERE account_id = $1 ORDER BY created_at, id COLLATE "C"`,
)

const countPasskeys = statement<{ had: number }>(
  'count_passkeys',
  'SELECT count(*) AS had FROM passkeys WHERE account_id = $1',
)

const addPasskey = statement<{ id: string }>(
  'add_passkey',
  `INSERT INTO passkeys (id, account_id, public_key, counter, site, transports, user_agent,
     created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING RETURNING id`,
)

const usePasskey = statement<{ id: string }>(
  'use_passkey',
  `UPDATE passkeys SET counter = $2, used_at = $3
   WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
)

const removePasskey = statement<{ id: string }>(
  'remove_passkey',
  'DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING id',
)

export const removePasskeys = statement(
  'remove_passkeys',
  'DELETE FROM passkeys WHERE account_id = $1',
)

const forgetSpent = statement(
  'forget_spent_challenges',
  'DELETE FROM spent_challenges WHERE expires_at <= $1',
)

/** Of two at once, one does. */
const spendChallenge = statement<{ hash: string }>(
  'spend_challenge',
  `INSERT INTO spent_challenges (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING
   RETURNING hash`,
)

const findSecret = statement<{ secret: string }>(
  'find_shared_secret',
  'SELECT secret FROM shared_secrets WHERE name = $1',
)

const keepSecret = statement<{ name: string }>(
  'keep_shared_secret',
  'INSERT INTO shared_secrets (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name',
)

/** False where it was spent before. */
async function spend(ask: Ask, { hash, expiresAt }: Challenge, now: number): Promise<boolean> {
  await ask(forgetSpent, now)
  return (await ask(spendChallenge, hash, expiresAt)).length > 0
}

type ReadVerbs = Pick<PasskeyStore, 'findPasskey' | 'listPasskeys'>

const readVerbs = ({ read }: Connections): ReadVerbs => ({
  async findPasskey(id) {
    const [row] = await read(findPasskey, id)
    return row && foundPasskeyOf(row)
  },
  listPasskeys: async (accountId) => (await read(listPasskeys, accountId)).map(passkeyOf),
})

/** Those that are added at once are counted one after the other. */
const addVerb =
  ({ transact }: Connections, committed: () => void): PasskeyStore['addPasskey'] =>
  async (passkey, challenge, now) => {
    const { id, accountId, publicKey, counter, site, transports, userAgent } = passkey
    const outcome = await transact(async (ask) => {
      await ask(lockAccount, accountId)
      if (!(await spend(ask, challenge, now))) return 'spent'
      const [count] = await ask(countPasskeys, accountId)
      if (Number(count?.had) >= PASSKEYS_PER_ACCOUNT) return 'full'
      const row = [id, accountId, publicKey, counter, site, transportsText(transports), userAgent]
      const [added] = await ask(addPasskey, ...row, now)
      return added ? 'added' : 'taken'
    })
    if (outcome !== 'spent') committed()
    return { outcome }
  }

export const passkeyVerbs = (connections: Connections, committed: () => void): PasskeyStore => ({
  ...readVerbs(connections),
  addPasskey: addVerb(connections, committed),
  async usePasskey({ id, counter, challenge }, now) {
    const outcome = await connections.transact(async (ask) => {
      if (!(await spend(ask, challenge, now))) return 'spent'
      const [used] = await ask(usePasskey, id, counter, now)
      return used ? 'used' : 'stale'
    })
    if (outcome !== 'spent') committed()
    return { outcome }
  },
  async removePasskey(accountId, id) {
    const removed = await connections.write(removePasskey, accountId, id)
    if (removed.length > 0) committed()
    return removed.length > 0
  },
  async sharedSecret(name, offered) {
    const [known] = await connections.read(findSecret, name)
    if (known) return known.secret
    const added = await connections.write(keepSecret, name, offered)
    if (added.length > 0) committed()
    const [kept] = await connections.read(findSecret, name)
    return kept?.secret ?? offered
  },
})
