/** Agents: their births, within the births an hour, and what their operators change. */
import type {
  Account,
  Birth,
  BirthAnswer,
  BirthCount,
  BirthLimits,
  BirthRecord,
} from '../port/home.ts'
import type { AgentRow } from '../rows.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import { ADMITTED, MAY } from './identities.ts'
import { homeReads } from './reads.ts'

/** What this engine selects of agents. */
export const AGENT_COLUMNS =
  'agent_id AS id, name, purpose, symbol, status, memory_count, created_at, updated_at'

export const readProfile = statement<AgentRow>(
  'read_profile',
  `SELECT ${AGENT_COLUMNS} FROM agents
   WHERE agent_id = $1
     AND EXISTS (SELECT 1 FROM credentials c WHERE c.agent_id = $1 AND c.token_hash = $2)`,
)

export const findBirth = statement<BirthRecord>(
  'find_birth',
  `SELECT b.agent_id AS "agentId", b.fingerprint, b.salt, a.rotated
   FROM births b JOIN agents a ON a.agent_id = b.agent_id WHERE b.key_hash = $1`,
)

interface CountRow {
  from_address: number
  oldest_from_address: number | null
  in_all: number
  oldest_in_all: number | null
}

export const countBirths = statement<CountRow>(
  'count_births',
  `SELECT here.births AS from_address, here.oldest AS oldest_from_address,
     everywhere.births AS in_all, everywhere.oldest AS oldest_in_all
   FROM (SELECT count(*) AS births, min(created_at) AS oldest
         FROM births WHERE born_from = $1 AND created_at > $2) here,
        (SELECT count(*) AS births, min(created_at) AS oldest
         FROM births WHERE created_at > $2) everywhere`,
)

export const findAccount = statement<Account>(
  'find_account',
  'SELECT id, email, password_hash AS "passwordHash" FROM accounts WHERE email = $1',
)

export const totals = statement<{ agents: number; memories: number }>(
  'totals',
  'SELECT count(*) AS agents, coalesce(sum(memory_count), 0)::BIGINT AS memories FROM agents',
)

export const changeStatus = statement<AgentRow>(
  'change_status',
  `WITH ${ADMITTED},
   marked AS (
     UPDATE credentials SET status = $3 WHERE agent_id = $1 AND kind = 'agent' AND ${MAY}
     RETURNING token_hash
   )
   UPDATE agents SET status = $3, updated_at = greatest(updated_at, $4)
   WHERE agent_id = $1 AND ${MAY} AND (SELECT count(*) FROM marked) >= 0
   RETURNING ${AGENT_COLUMNS}`,
)

/** In place, so that of two rotations the later voids the token of the earlier. */
export const rotateAgentToken = statement<{ agent_id: string }>(
  'rotate_agent_token',
  `WITH ${ADMITTED},
   renewed AS (
     UPDATE credentials SET token_hash = $3 WHERE agent_id = $1 AND kind = 'agent' AND ${MAY}
     RETURNING agent_id
   )
   UPDATE agents SET rotated = true WHERE agent_id IN (SELECT agent_id FROM renewed)
   RETURNING agent_id`,
)

const over = (count: BirthCount, { perAddress, inAll }: BirthLimits): boolean =>
  (perAddress > 0 && count.fromAddress >= perAddress) || (inAll > 0 && count.inAll >= inAll)

/** Births are counted one after the other: two at once could both be the last that is allowed. */
const passGate = statement('pass_gate', "SELECT name FROM gates WHERE name = 'births' FOR UPDATE")

const forgetAddresses = statement(
  'forget_addresses',
  'UPDATE births SET born_from = NULL WHERE born_from IS NOT NULL AND created_at <= $1',
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
  `INSERT INTO agents (agent_id, name, purpose, symbol, status, account_id, created_at, updated_at)
   VALUES ($1, $2, $3, $4, 'active', $5, $6, $6)`,
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
  await ask(addAgent, agentId, name, purpose, symbol, account, now)
  await ask(addCredentials, agentId, birth.agentTokenHash, birth.operatorTokenHash)
}

async function bear(
  ask: Ask,
  birth: Birth,
  limits: BirthLimits,
  now: number,
): Promise<BirthAnswer> {
  const reads = homeReads(ask)
  if (limits.perAddress > 0 || limits.inAll > 0) await ask(passGate)
  const known = await reads.findBirth(birth.keyHash)
  if (known) return { outcome: 'known', birth: known }
  const since = now - limits.windowMs
  const count = await reads.countBirths(birth.bornFrom, since)
  if (over(count, limits)) return { outcome: 'over_limit', count }
  const account = await accountId(ask, birth, now)
  if (account === undefined) return { outcome: 'account_exists' }
  await ask(forgetAddresses, since)
  await insert(ask, birth, account, now)
  return { outcome: 'born' }
}

/** A concurrent birth with the same key makes this one fail as a whole; then it is known. */
export const bearIn =
  (connections: Connections) =>
  async (birth: Birth, limits: BirthLimits, now: number): Promise<BirthAnswer> => {
    try {
      return await connections.transact((ask) => bear(ask, birth, limits, now))
    } catch (error) {
      const known = isDuplicate(error)
        ? await homeReads(connections.read).findBirth(birth.keyHash)
        : undefined
      if (!known) throw error
      return { outcome: 'known', birth: known }
    }
  }
