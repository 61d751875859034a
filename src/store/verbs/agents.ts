/** Births with their hourly limits, profiles, and the erasure of agents. */
import { overLimits } from '../answers.ts'
import { beginningOf } from '../chain.ts'
import { dayOf } from '../port/activity.ts'
import {
  type Account,
  type Birth,
  type BirthAnswer,
  type BirthCount,
  type BirthLimits,
  type Birthplace,
  type BirthRecord,
  isLimited,
  type ProfileAnswer,
} from '../port/home.ts'
import type { Identity } from '../port/identity.ts'
import { type AgentRow, endOf, profileAnswer } from '../rows.ts'
import { holdAccount, rememberAddress } from './accounts.ts'
import { AGENT_COLUMNS, takeControl } from './controls.ts'
import { ask, type Statement, statement, type Verb } from './verb.ts'

const findProfile = statement<AgentRow>(`
  SELECT ${AGENT_COLUMNS} FROM agents WHERE agent_id = $1
    AND EXISTS (SELECT 1 FROM credentials c WHERE c.agent_id = $1 AND c.token_hash = $2)`)

const countUnder = statement<Pick<AgentRow, 'memory_count' | 'bytes'>>(`
  SELECT count(*) AS memory_count, CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM memories
  WHERE agent_id = $1 AND key >= $2 AND key < $3 AND NOT deleted`)

const findBirth = statement<Omit<BirthRecord, 'rotated'>>(
  'SELECT agent_id AS "agentId", fingerprint, salt FROM births WHERE key_hash = $1',
)

/** 1 on SQLite. */
const isRotated = statement<{ rotated: boolean | number }>(
  'SELECT rotated FROM agents WHERE agent_id = $1',
)

/** Null: the oldest of none. */
type CountRow = Readonly<Record<keyof BirthCount, number | null>>

/** Births of erased agents still count for their hour. */
const births = (condition: string): string => `
  (SELECT count(*) AS births, min(created_at) AS oldest FROM (
     SELECT created_at FROM births WHERE born_from IS NOT NULL AND ${condition}
     UNION ALL SELECT created_at FROM erased_births WHERE ${condition}
   ) AS b)`

const countAll = statement<CountRow>(`
  SELECT here.births AS "fromAddress", here.oldest AS "oldestFromAddress",
    around.births AS "fromNetwork", around.oldest AS "oldestFromNetwork",
    everywhere.births AS "inAll", everywhere.oldest AS "oldestInAll"
  FROM ${births('born_from = $1 AND created_at > $2')} AS here,
    ${births('born_from >= $3 AND born_from < $4 AND created_at > $2')} AS around,
    ${births('created_at > $2')} AS everywhere`)

/** Serializes births: otherwise two at once could both be the last that is allowed. */
const passGate = statement(`SELECT name FROM gates WHERE name = 'births' FOR UPDATE`)

/** As many as are born in an hour, unless the limit is higher. */
const FORGOTTEN_AT_ONCE = 1_000

const forgetAddresses = statement(`
  UPDATE births SET born_from = NULL WHERE key_hash IN (
    SELECT key_hash FROM births WHERE born_from IS NOT NULL AND created_at <= $1
    ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED)`)

const forgetErased = statement(`
  DELETE FROM erased_births WHERE created_at IN (
    SELECT created_at FROM erased_births WHERE created_at <= $1
    ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE})`)

const findAccount = statement<Account>(
  'SELECT id, email, password_hash AS "passwordHash" FROM accounts WHERE email = $1',
)

const addAccount = statement<{ id: string }>(`
  INSERT INTO accounts (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (email) DO NOTHING RETURNING id`)

const addBirth = statement(`
  INSERT INTO births (key_hash, agent_id, fingerprint, salt, born_from, created_at)
  VALUES ($1, $2, $3, $4, $5, $6)`)

const addAgent = statement(`
  INSERT INTO agents (agent_id, name, purpose, symbol, status, account_id, created_at, updated_at)
  VALUES ($1, $2, $3, $4, 'active', $5, $6, $6)`)

const addHome = statement('INSERT INTO homes (agent_id, day, head, base) VALUES ($1, $2, $3, $3)')

const addCredentials = statement(`
  INSERT INTO credentials (agent_id, token_hash, kind, status)
  VALUES ($1, $2, 'agent', 'active'), ($1, $3, 'operator', 'active')`)

/** In the order in which the tables are locked and refer to each other. */
const eraseInTurn: readonly Statement<never>[] = [
  'INSERT INTO erased_agents (agent_id) VALUES ($1)',
  'DELETE FROM credentials WHERE agent_id = $1',
  'DELETE FROM oauth_records WHERE agent_id = $1',
  'DELETE FROM homes WHERE agent_id = $1',
  // From here on nothing can add to the log.
  'DELETE FROM unfinished WHERE agent_id = $1',
  'DELETE FROM daily_writes WHERE agent_id = $1',
  'DELETE FROM daily_calls WHERE agent_id = $1',
  'DELETE FROM operator_replacements WHERE agent_id = $1',
  // Being born and erased in turn must not evade the limits.
  `INSERT INTO erased_births (born_from, created_at)
     SELECT born_from, created_at FROM births WHERE agent_id = $1 AND born_from IS NOT NULL`,
  'DELETE FROM births WHERE agent_id = $1',
  'DELETE FROM agents WHERE agent_id = $1',
].map((sql) => statement(sql))

/** The account's id; null without an account; undefined if it already exists. */
function* accountOf({ account }: Birth, now: number): Verb<string | null | undefined> {
  if (!account) return null
  if ('join' in account) {
    yield* holdAccount(account.join)
    return account.join
  }
  const { id, email, passwordHash } = account.create
  const [added] = yield* ask(addAccount, id, email, passwordHash, now)
  return added?.id
}

function* insert(birth: Birth, account: string | null, now: number): Verb<void> {
  const { agentId, name, purpose, symbol, keyHash, fingerprint, salt, bornFrom } = birth
  yield* ask(addBirth, keyHash, agentId, fingerprint, salt, bornFrom, now)
  yield* ask(addAgent, agentId, name, purpose, symbol, account, now)
  yield* ask(addHome, agentId, dayOf(now), beginningOf(agentId))
  yield* ask(addCredentials, agentId, birth.agentTokenHash, birth.operatorTokenHash)
}

/** Addresses are ASCII, so every text with the prefix is lower than prefix + DEL. */
const AFTER = '\x7f'

export const agentReads = {
  *findBirth(keyHash: string): Verb<BirthRecord | undefined> {
    const [birth] = yield* ask(findBirth, keyHash)
    const [agent] = birth ? yield* ask(isRotated, birth.agentId) : []
    return birth && agent && { ...birth, rotated: Boolean(agent.rotated) }
  },

  *countBirths({ bornFrom, bornWithin }: Birthplace, since: number): Verb<BirthCount> {
    const within = bornWithin ?? null
    const [row] = yield* ask(countAll, bornFrom, since, within, within && within + AFTER)
    return {
      fromAddress: row?.fromAddress ?? 0,
      fromNetwork: row?.fromNetwork ?? 0,
      inAll: row?.inAll ?? 0,
      oldestFromAddress: row?.oldestFromAddress ?? undefined,
      oldestFromNetwork: row?.oldestFromNetwork ?? undefined,
      oldestInAll: row?.oldestInAll ?? undefined,
    }
  },

  *findAccount(email: string): Verb<Account | undefined> {
    const [account] = yield* ask(findAccount, email)
    return account
  },

  *readProfile({ agentId, tokenHash }: Identity, prefix = ''): Verb<ProfileAnswer> {
    const [row] = yield* ask(findProfile, agentId, tokenHash)
    if (!row || prefix === '') return profileAnswer(row)
    const [counted] = yield* ask(countUnder, agentId, prefix, endOf(prefix))
    return profileAnswer({ ...row, ...counted })
  },
}

export const agentWrites = {
  /** Throws on a concurrent birth with the same key, which is then known. */
  *bear(birth: Birth, limits: BirthLimits, now: number): Verb<BirthAnswer> {
    if (isLimited(limits)) yield* ask(passGate)
    const known = yield* agentReads.findBirth(birth.keyHash)
    if (known) return { outcome: 'known', birth: known }
    const since = now - limits.windowMs
    if (isLimited(limits)) {
      const count = yield* agentReads.countBirths(birth, since)
      if (overLimits(count, limits)) return { outcome: 'over_limit', count }
    }
    const account = yield* accountOf(birth, now)
    if (account === undefined) return { outcome: 'account_exists' }
    yield* ask(forgetAddresses, since)
    yield* ask(forgetErased, since)
    yield* insert(birth, account, now)
    if (account && birth.addressHash) yield* rememberAddress(account, birth.addressHash, now)
    return { outcome: 'born' }
  },
}

export const agentErasure = {
  /** Its memories and its log belong to no agent then; the engine deletes them in slices. */
  *eraseAgent(identity: Identity): Verb<{ outcome: 'erased' } | { outcome: 'revoked' }> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    for (const step of eraseInTurn) yield* ask(step, identity.agentId)
    return { outcome: 'erased' }
  },
}
