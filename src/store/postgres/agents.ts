/** Agents: their births, within the births an hour, and what is read of them. */

import { overLimits } from '../answers.ts'
import { dayOf } from '../port/activity.ts'
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
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import { run } from './engine/run.ts'

const selectProfile = statement<AgentRow>(
  'read_profile',
  `SELECT ${AGENT_COLUMNS} FROM agents
   WHERE agent_id = $1
     AND EXISTS (SELECT 1 FROM credentials c WHERE c.agent_id = $1 AND c.token_hash = $2)`,
)

const countUnder = statement<Pick<AgentRow, 'memory_count' | 'bytes'>>(
  'count_under',
  `SELECT count(*) AS memory_count, coalesce(sum(size), 0)::BIGINT AS bytes FROM memories
   WHERE agent_id = $1 AND key >= $2 AND key < $3 AND NOT deleted`,
)

const selectBirth = statement<BirthRecord>(
  'find_birth',
  `SELECT b.agent_id AS "agentId", b.fingerprint, b.salt, a.rotated
   FROM births b JOIN agents a ON a.agent_id = b.agent_id WHERE b.key_hash = $1`,
)

interface CountRow {
  from_address: number
  oldest_from_address: number | null
  from_network: number
  oldest_from_network: number | null
  in_all: number
  oldest_in_all: number | null
}

/** Those that were erased count as long as others do. */
const BIRTHS = `(SELECT born_from, created_at FROM births
  UNION ALL SELECT born_from, created_at FROM erased_births) AS b`

const selectBirthCount = statement<CountRow>(
  'count_births',
  `SELECT here.births AS from_address, here.oldest AS oldest_from_address,
     around.births AS from_network, around.oldest AS oldest_from_network,
     everywhere.births AS in_all, everywhere.oldest AS oldest_in_all
   FROM (SELECT count(*) AS births, min(created_at) AS oldest
         FROM ${BIRTHS} WHERE born_from = $1 AND created_at > $2) here,
        (SELECT count(*) AS births, min(created_at) AS oldest
         FROM ${BIRTHS} WHERE starts_with(born_from, $3::TEXT) AND created_at > $2) around,
        (SELECT count(*) AS births, min(created_at) AS oldest
         FROM ${BIRTHS} WHERE created_at > $2) everywhere`,
)

const selectAccount = statement<Account>(
  'find_account',
  'SELECT id, email, password_hash AS "passwordHash" FROM accounts WHERE email = $1',
)

const selectTotals = statement<{ agents: number; memories: number }>(
  'totals',
  'SELECT count(*) AS agents, coalesce(sum(memories), 0)::BIGINT AS memories FROM homes',
)

/** Births are counted one after the other: two at once could both be the last that is allowed. */
const passGate = statement('pass_gate', "SELECT name FROM gates WHERE name = 'births' FOR UPDATE")

const forgetAddresses = statement(
  'forget_addresses',
  'UPDATE births SET born_from = NULL WHERE born_from IS NOT NULL AND created_at <= $1',
)

const forgetErased = statement(
  'forget_erased_births',
  'DELETE FROM erased_births WHERE created_at <= $1',
)

const addAccount = statement<{ id: string }>(
  'add_account',
  `INSERT INTO accounts (id, email, password_hash, created_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (email) DO NOTHING RETURNING id`,
)

const addBirth = statement(
  'add_birth',
  `INSERT INTO births (key_hash, agent_id, fingerprint, salt, born_from, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
)

const addAgent = statement(
  'add_agent',
  `WITH born AS (
     INSERT INTO agents
       (agent_id, name, purpose, symbol, status, account_id, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'active', $5, $6, $6)
     RETURNING agent_id
   )
   INSERT INTO homes (agent_id, day) SELECT agent_id, $7::BIGINT FROM born`,
)

const addCredentials = statement(
  'add_credentials',
  `INSERT INTO credentials (agent_id, token_hash, kind, status)
   VALUES ($1, $2, 'agent', 'active'), ($1, $3, 'operator', 'active')`,
)

/** The account's id; null without one; undefined when it exists already. */
async function accountId(ask: Ask, { account }: Birth, now: number) {
  if (!account) return null
  if ('join' in account) return account.join
  const { id, email, passwordHash } = account.create
  const [added] = await ask(addAccount, id, email, passwordHash, now)
  return added?.id
}

async function insert(ask: Ask, birth: Birth, account: string | null, now: number): Promise<void> {
  const { agentId, name, purpose, symbol, keyHash, fingerprint, salt, bornFrom } = birth
  await ask(addBirth, keyHash, agentId, fingerprint, salt, bornFrom, now)
  await ask(addAgent, agentId, name, purpose, symbol, account, now, dayOf(now))
  await ask(addCredentials, agentId, birth.agentTokenHash, birth.operatorTokenHash)
}

async function findBirth(ask: Ask, keyHash: string): Promise<BirthRecord | undefined> {
  const [found] = await ask(selectBirth, keyHash)
  return found
}

async function countBirths(
  ask: Ask,
  { bornFrom, bornWithin }: Birthplace,
  since: number,
): Promise<BirthCount> {
  const [row] = await ask(selectBirthCount, bornFrom, since, bornWithin ?? null)
  return {
    fromAddress: row?.from_address ?? 0,
    fromNetwork: row?.from_network ?? 0,
    inAll: row?.in_all ?? 0,
    oldestFromAddress: row?.oldest_from_address ?? undefined,
    oldestFromNetwork: row?.oldest_from_network ?? undefined,
    oldestInAll: row?.oldest_in_all ?? undefined,
  }
}

const isLimited = ({ perAddress, perNetwork, inAll }: BirthLimits): boolean =>
  perAddress > 0 || perNetwork > 0 || inAll > 0

async function bear(
  ask: Ask,
  birth: Birth,
  limits: BirthLimits,
  now: number,
): Promise<BirthAnswer> {
  if (isLimited(limits)) await ask(passGate)
  const known = await findBirth(ask, birth.keyHash)
  if (known) return { outcome: 'known', birth: known }
  const since = now - limits.windowMs
  const count = await countBirths(ask, birth, since)
  if (overLimits(count, limits)) return { outcome: 'over_limit', count }
  const account = await accountId(ask, birth, now)
  if (account === undefined) return { outcome: 'account_exists' }
  await ask(forgetAddresses, since)
  await ask(forgetErased, since)
  await insert(ask, birth, account, now)
  if (account && birth.addressHash) await run(ask, rememberAddress(account, birth.addressHash, now))
  return { outcome: 'born' }
}

export const agentVerbs = ({ read, transact }: Connections, committed: () => void) => ({
  findBirth: (keyHash: string) => findBirth(read, keyHash),
  countBirths: (place: Birthplace, since: number) => countBirths(read, place, since),
  async findAccount(email: string): Promise<Account | undefined> {
    const [found] = await read(selectAccount, email)
    return found
  },
  /** A concurrent birth with the same key makes this one fail as a whole; then it is known. */
  async bear(birth: Birth, limits: BirthLimits, now: number): Promise<BirthAnswer> {
    try {
      const answer = await transact((ask) => bear(ask, birth, limits, now))
      if (answer.outcome === 'born') committed()
      return answer
    } catch (error) {
      const known = isDuplicate(error) ? await findBirth(read, birth.keyHash) : undefined
      if (!known) throw error
      return { outcome: 'known', birth: known }
    }
  },
  async readProfile({ agentId, tokenHash }: Identity, prefix = ''): Promise<ProfileAnswer> {
    const [row] = await read(selectProfile, agentId, tokenHash)
    if (!row || prefix === '') return profileAnswer(row)
    const [counted] = await read(countUnder, agentId, prefix, endOf(prefix))
    return profileAnswer({ ...row, ...counted })
  },
  async totals(): Promise<{ agents: number; memories: number }> {
    const [found] = await read(selectTotals)
    return found ?? { agents: 0, memories: 0 }
  },
})
