/** Agents: their births within the births an hour, and what is read of them. */
import type { DatabaseSync } from 'node:sqlite'
import { overLimits } from '../answers.ts'
import type {
  Account,
  Birth,
  BirthAnswer,
  BirthCount,
  BirthLimits,
  Birthplace,
  BirthRecord,
  Identity,
  ProfileAnswer,
} from '../port/home.ts'
import { type AgentRow, endOf, profileAnswer } from '../rows.ts'
import { rememberAddress } from '../verbs/accounts.ts'
import { AGENT_COLUMNS } from '../verbs/controls.ts'
import { prepare } from './engine/connection.ts'
import { prepareVerbs } from './engine/run.ts'
import type { Tally } from './engine/totals.ts'
import type { Identify } from './identities.ts'

interface BirthRow {
  id: string
  birth_fingerprint: string
  birth_salt: string
  rotated: number
}

const SELECT_BIRTH =
  'SELECT agent_id AS id, birth_fingerprint, birth_salt, rotated FROM agents WHERE birth_key_hash = ?'

const birthOf = (row: BirthRow): BirthRecord => ({
  agentId: row.id,
  fingerprint: row.birth_fingerprint,
  salt: row.birth_salt,
  rotated: row.rotated === 1,
})

interface CountRow {
  births: number
  oldest: number | null
}

/** Those that were erased count as long as others do. */
const births = (condition: string): string => `
  SELECT count(*) AS births, min(created_at) AS oldest FROM (
    SELECT created_at FROM agents WHERE ${condition}
    UNION ALL SELECT created_at FROM erased_births WHERE ${condition}
  )`

/** Also used inside the writing transaction, on the writer's connection. */
function prepareBirthCount(db: DatabaseSync) {
  const fromAddress = prepare<CountRow>(db, births('born_from = ?1 AND created_at > ?2'))
  // Keys are ASCII: nothing that begins alike comes after DEL.
  const fromNetwork = prepare<CountRow>(
    db,
    births('born_from >= ?1 AND born_from < ?1 || char(127) AND created_at > ?2'),
  )
  const inAll = prepare<CountRow>(db, births('created_at > ?1'))
  return ({ bornFrom, bornWithin }: Birthplace, since: number): BirthCount => {
    const within = bornWithin ?? null
    const here = fromAddress.get(bornFrom, since)
    const around = fromNetwork.get(within, since)
    const all = inAll.get(since)
    return {
      fromAddress: here?.births ?? 0,
      fromNetwork: around?.births ?? 0,
      inAll: all?.births ?? 0,
      oldestFromAddress: here?.oldest ?? undefined,
      oldestFromNetwork: around?.oldest ?? undefined,
      oldestInAll: all?.oldest ?? undefined,
    }
  }
}

function prepareAccount(db: DatabaseSync) {
  const addAccount = prepare(
    db,
    'INSERT INTO accounts (id, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING id',
  )
  /** The account's id; null without one; undefined when it exists already. */
  return ({ account }: Birth, now: number): string | null | undefined => {
    if (!account) return null
    if ('join' in account) return account.join
    const { id, email, passwordHash } = account.create
    return addAccount.get(id, email, passwordHash, now) && id
  }
}

/** An agent and its two tokens. */
function prepareInsert(db: DatabaseSync) {
  const addAgent = prepare(
    db,
    `INSERT INTO agents (agent_id, name, purpose, symbol, status, account_id, birth_key_hash,
       birth_fingerprint, birth_salt, born_from, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'active', ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addCredential = prepare(
    db,
    'INSERT INTO credentials (token_hash, agent_id, kind) VALUES (?, ?, ?)',
  )
  const addHome = prepare(db, 'INSERT INTO homes (agent_id) VALUES (?)')
  return (birth: Birth, account: string | null, now: number): void => {
    const { agentId, name, purpose, symbol, keyHash, fingerprint, salt, bornFrom } = birth
    addAgent.run(
      ...[agentId, name, purpose, symbol, account],
      ...[keyHash, fingerprint, salt, bornFrom, now, now],
    )
    addHome.run(agentId)
    addCredential.run(birth.agentTokenHash, agentId, 'agent')
    addCredential.run(birth.operatorTokenHash, agentId, 'operator')
  }
}

export function prepareBirth(db: DatabaseSync, tally: Tally) {
  const known = prepare<BirthRow>(db, SELECT_BIRTH)
  const countBirths = prepareBirthCount(db)
  const forgetAddresses = prepare(
    db,
    'UPDATE agents SET born_from = NULL WHERE born_from IS NOT NULL AND created_at <= ?',
  )
  const forgetErased = prepare(db, 'DELETE FROM erased_births WHERE created_at <= ?')
  const accountId = prepareAccount(db)
  const insert = prepareInsert(db)
  const verbs = prepareVerbs(db, { rememberAddress })

  return (birth: Birth, limits: BirthLimits, now: number): BirthAnswer => {
    const row = known.get(birth.keyHash)
    if (row) return { outcome: 'known', birth: birthOf(row) }
    const since = now - limits.windowMs
    const count = countBirths(birth, since)
    if (overLimits(count, limits)) return { outcome: 'over_limit', count }
    const account = accountId(birth, now)
    if (account === undefined) return { outcome: 'account_exists' }
    forgetAddresses.run(since)
    forgetErased.run(since)
    insert(birth, account, now)
    if (account && birth.addressHash) verbs.rememberAddress(account, birth.addressHash, now)
    tally.born()
    return { outcome: 'born' }
  }
}

export function prepareProfile(db: DatabaseSync, identify: Identify) {
  const agent = prepare<AgentRow>(db, `SELECT ${AGENT_COLUMNS} FROM agents WHERE agent_id = ?`)
  const under = prepare<Pick<AgentRow, 'memory_count' | 'bytes'>>(
    db,
    `SELECT count(*) AS memory_count, coalesce(sum(size), 0) AS bytes FROM memories
     WHERE agent_id = ? AND key >= ? AND key < ? AND deleted = 0`,
  )
  return ({ agentId, tokenHash }: Identity, prefix = ''): ProfileAnswer => {
    const row = identify(tokenHash) && agent.get(agentId)
    const counted = row && prefix !== '' ? under.get(agentId, prefix, endOf(prefix)) : undefined
    return profileAnswer(row && { ...row, ...counted })
  }
}

export function prepareAgentReads(db: DatabaseSync, identify: Identify) {
  const birth = prepare<BirthRow>(db, SELECT_BIRTH)
  const account = prepare<{ id: string; email: string; password_hash: string }>(
    db,
    'SELECT id, email, password_hash FROM accounts WHERE email = ?',
  )
  return {
    countBirths: prepareBirthCount(db),
    findBirth(keyHash: string): BirthRecord | undefined {
      const row = birth.get(keyHash)
      return row && birthOf(row)
    },
    findAccount(email: string): Account | undefined {
      const row = account.get(email)
      return row && { id: row.id, email: row.email, passwordHash: row.password_hash }
    },
    readProfile: prepareProfile(db, identify),
  }
}
