/** Passkeys of accounts, and used challenges. */
import {
  type AddPasskeyAnswer,
  type Challenge,
  type FoundPasskey,
  type NewPasskey,
  PASSKEYS_PER_ACCOUNT,
  type Passkey,
  type PasskeyUse,
  type UsePasskeyAnswer,
} from '../port/passkeys.ts'
import { lockAccount } from './accounts.ts'
import { ask, statement, sweep, type Verb } from './verb.ts'

interface PasskeyRow extends Omit<Passkey, 'transports' | 'usedAt'> {
  /** Separated by spaces. */
  transports: string
  usedAt: number | null
}

const COLUMNS = `p.id, p.account_id AS "accountId", p.public_key AS "publicKey", p.counter, p.site,
  p.transports, p.user_agent AS "userAgent", p.created_at AS "createdAt", p.used_at AS "usedAt"`

const passkeyOf = <Row extends PasskeyRow>({ transports, usedAt, ...row }: Row) => ({
  ...row,
  transports: transports.split(' ').filter(Boolean),
  usedAt: usedAt ?? undefined,
})

const find = statement<PasskeyRow & { email: string }>(`
  SELECT ${COLUMNS}, a.email FROM passkeys p JOIN accounts a ON a.id = p.account_id
  WHERE p.id = $1`)

const list = statement<PasskeyRow>(
  `SELECT ${COLUMNS} FROM passkeys p WHERE account_id = $1 ORDER BY created_at, id`,
)

const count = statement<{ passkeys: number }>(
  'SELECT count(*) AS passkeys FROM passkeys WHERE account_id = $1',
)

const add = statement<{ id: string }>(`
  INSERT INTO passkeys (id, account_id, public_key, counter, site, transports, user_agent,
    created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING RETURNING id`)

/**
 * If the counter does not increase, the passkey was copied, unless its authenticator has no
 * counter.
 */
const use = statement<{ id: string }>(`
  UPDATE passkeys SET counter = $2, used_at = $3
  WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`)

const remove = statement<{ id: string }>(
  'DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING id',
)

const forgetSpent = sweep('spent_challenges', 'hash')

/** An expired one may not have been removed yet. */
const spendOnce = statement<{ hash: string }>(`
  INSERT INTO spent_challenges AS c (hash, expires_at) VALUES ($1, $2)
  ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at WHERE c.expires_at <= $3
  RETURNING hash`)

const findSecret = statement<{ secret: string }>(
  'SELECT secret FROM shared_secrets WHERE name = $1',
)

const keepSecret = statement<{ name: string }>(`
  INSERT INTO shared_secrets (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING
  RETURNING name`)

/** False if it was used before. */
function* spend({ hash, expiresAt }: Challenge, now: number): Verb<boolean> {
  yield* ask(forgetSpent, now)
  return (yield* ask(spendOnce, hash, expiresAt, now)).length > 0
}

export const passkeyReads = {
  *findPasskey(id: string): Verb<FoundPasskey | undefined> {
    const [row] = yield* ask(find, id)
    return row && passkeyOf(row)
  },

  *listPasskeys(accountId: string): Verb<readonly Passkey[]> {
    return (yield* ask(list, accountId)).map(passkeyOf)
  },

  *findSecret(name: string): Verb<string | undefined> {
    const [kept] = yield* ask(findSecret, name)
    return kept?.secret
  },
}

export const passkeyWrites = {
  *addPasskey(passkey: NewPasskey, challenge: Challenge, now: number): Verb<AddPasskeyAnswer> {
    const { id, accountId, publicKey, counter, site, transports, userAgent } = passkey
    // Serializes additions, so that the limit holds.
    yield* ask(lockAccount, accountId)
    if (!(yield* spend(challenge, now))) return { outcome: 'spent' }
    const [had] = yield* ask(count, accountId)
    if (had && had.passkeys >= PASSKEYS_PER_ACCOUNT) return { outcome: 'full' }
    const row = [id, accountId, publicKey, counter, site, transports.join(' '), userAgent]
    const [added] = yield* ask(add, ...row, now)
    return { outcome: added ? 'added' : 'taken' }
  },

  *usePasskey({ id, counter, challenge }: PasskeyUse, now: number): Verb<UsePasskeyAnswer> {
    if (!(yield* spend(challenge, now))) return { outcome: 'spent' }
    const [used] = yield* ask(use, id, counter, now)
    return { outcome: used ? 'used' : 'stale' }
  },

  *removePasskey(accountId: string, id: string): Verb<boolean> {
    return (yield* ask(remove, accountId, id)).length > 0
  },

  *sharedSecret(name: string, offered: string): Verb<string> {
    yield* ask(keepSecret, name, offered)
    const [kept] = yield* ask(findSecret, name)
    return kept?.secret ?? offered
  },
}
