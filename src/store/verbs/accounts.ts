/** Operator accounts: their passwords, and the addresses they signed in from. */
import type { AdminAnswer, RecoverAnswer } from '../port/host.ts'
import { ADDRESSES_PER_ACCOUNT, type PasswordChange, type Recovered } from '../port/sessions.ts'
import { ask, statement, type Verb } from './verb.ts'

/**
 * Locked until the end of the transaction, so that sessions and passkeys are counted one after the
 * other.
 */
export const lockAccount = statement<{ id: string }>(
  'SELECT id FROM accounts WHERE id = $1 FOR UPDATE',
)

/** For what belongs to an account from now on, and must not outlast it. Throws if there is none. */
export function* holdAccount(accountId: string): Verb<void> {
  const [account] = yield* ask(lockAccount, accountId)
  if (!account) throw new Error('the account was deleted')
}

export const endOtherSessions = statement<{ id: string }>(
  'DELETE FROM sessions WHERE account_id = $1 AND id <> $2 RETURNING id',
)

const findAddress = statement<{ found: number }>(
  'SELECT 1 AS found FROM sign_in_addresses WHERE address_hash = $1',
)

const addAddress = statement(`
  INSERT INTO sign_in_addresses AS a (address_hash, account_id, seen_at) VALUES ($1, $2, $3)
  ON CONFLICT (address_hash) DO UPDATE SET seen_at = excluded.seen_at
  WHERE a.seen_at < excluded.seen_at`)

const forgetOldAddresses = statement(`
  DELETE FROM sign_in_addresses WHERE account_id = $1 AND address_hash NOT IN (
    SELECT address_hash FROM sign_in_addresses WHERE account_id = $1
    ORDER BY seen_at DESC, address_hash LIMIT ${ADDRESSES_PER_ACCOUNT})`)

/** Always in this order, so that concurrent deletions cannot deadlock. */
const forget = (
  table: 'sessions' | 'sign_ins' | 'passkeys' | 'account_recoveries' | 'sign_in_addresses',
) => statement(`DELETE FROM ${table} WHERE account_id = $1`)

const endSessions = forget('sessions')
const removePasskeys = forget('passkeys')
const voidRecovery = forget('account_recoveries')
const forgetSignIns = forget('sign_ins')
const forgetAddresses = forget('sign_in_addresses')

/** The account's row first, as at the start of a session. */
const replacePassword = statement<{ id: string }>(
  'UPDATE accounts SET password_hash = $2 WHERE id = $1 AND password_hash = $3 RETURNING id',
)

const setPassword = statement<Recovered>(
  'UPDATE accounts SET password_hash = $2 WHERE id = $1 RETURNING id, email',
)

const makeRecovery = statement<{ account_id: string }>(`
  INSERT INTO account_recoveries (account_id, secret_hash, expires_at)
  SELECT id, $2, $3 FROM accounts WHERE email = $1
  ON CONFLICT (account_id) DO UPDATE
  SET secret_hash = excluded.secret_hash, expires_at = excluded.expires_at
  RETURNING account_id`)

const findRecovery = statement<Recovered>(`
  SELECT a.id, a.email FROM account_recoveries r JOIN accounts a ON a.id = r.account_id
  WHERE r.secret_hash = $1 AND r.expires_at > $2`)

const setAdmin = statement<{ id: string }>(
  'UPDATE accounts SET admin = $2 WHERE email = $1 RETURNING id',
)

/** Of two concurrent calls, one deletes it. */
const useRecovery = statement<{ account_id: string }>(`
  DELETE FROM account_recoveries WHERE secret_hash = $1 AND expires_at > $2
  RETURNING account_id`)

const leaveAgents = statement('UPDATE agents SET account_id = NULL WHERE account_id = $1')

const drop = statement('DELETE FROM accounts WHERE id = $1')

export function* rememberAddress(accountId: string, addressHash: string, now: number): Verb<void> {
  yield* ask(addAddress, addressHash, accountId, now)
  yield* ask(forgetOldAddresses, accountId)
}

export const accountReads = {
  *knowsAddress(addressHash: string): Verb<boolean> {
    return (yield* ask(findAddress, addressHash)).length > 0
  },

  *findRecovery(secretHash: string, now: number): Verb<Recovered | undefined> {
    const [found] = yield* ask(findRecovery, secretHash, now)
    return found
  },
}

export const accountWrites = {
  *changePassword(change: PasswordChange, now: number): Verb<boolean> {
    const { accountId, replaces, passwordHash, sessionId, addressHash } = change
    const [changed] = yield* ask(replacePassword, accountId, passwordHash, replaces)
    if (!changed) return false
    yield* ask(endOtherSessions, accountId, sessionId)
    yield* ask(voidRecovery, accountId)
    yield* ask(forgetAddresses, accountId)
    yield* rememberAddress(accountId, addressHash, now)
    return true
  },

  *recoverAccount(email: string, secretHash: string, expiresAt: number): Verb<RecoverAnswer> {
    const [made] = yield* ask(makeRecovery, email, secretHash, expiresAt)
    return { outcome: made ? 'made' : 'missing' }
  },

  *setAdmin(email: string, isAdmin: boolean): Verb<AdminAnswer> {
    const [set] = yield* ask(setAdmin, email, isAdmin)
    return { outcome: set ? 'set' : 'missing' }
  },

  *setPassword(secretHash: string, passwordHash: string, now: number): Verb<Recovered | undefined> {
    const [used] = yield* ask(useRecovery, secretHash, now)
    if (!used) return undefined
    const [account] = yield* ask(setPassword, used.account_id, passwordHash)
    yield* ask(endSessions, used.account_id)
    yield* ask(removePasskeys, used.account_id)
    yield* ask(forgetAddresses, used.account_id)
    return account
  },

  *deleteAccount(accountId: string): Verb<void> {
    yield* ask(lockAccount, accountId)
    yield* ask(leaveAgents, accountId)
    yield* ask(endSessions, accountId)
    yield* ask(removePasskeys, accountId)
    yield* ask(voidRecovery, accountId)
    yield* ask(forgetSignIns, accountId)
    yield* ask(forgetAddresses, accountId)
    yield* ask(drop, accountId)
  },
}
