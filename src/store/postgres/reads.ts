/** The home's reading verbs: one statement each, which also says whether the reader may. */
import type {
  Account,
  AgentStatus,
  BirthCount,
  BirthRecord,
  Identity,
  ProfileAnswer,
  ReadAnswer,
  TokenKind,
} from '../port/home.ts'
import { type AgentRow, type MemoryRow, memoryOf, profileOf } from '../rows.ts'
import { together } from './engine/batcher.ts'
import { type Ask, statement } from './engine/connections.ts'
import { type AdmittedRow, AGENT_COLUMNS, refusedBy } from './rows.ts'

const identify = statement<{ agent_id: string; kind: TokenKind; status: AgentStatus }>(
  'identify',
  'SELECT agent_id, kind, status FROM credentials WHERE token_hash = $1',
)

/** The agent's status is on each of its credentials: see the schema. */
export const readMemory = statement<AdmittedRow & (MemoryRow | { id: null })>(
  'read_memory',
  `SELECT c.kind, c.status AS credential_status,
     m.id, m.key, m.text, m.metadata, m.version, m.created_at, m.updated_at
   FROM credentials c LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3
   WHERE c.agent_id = $1 AND c.token_hash = $2`,
)

/** The same for several readers at once; the first column is the place in their list. */
const readMemories = statement<{ place: number } & AdmittedRow & (MemoryRow | { id: null })>(
  'read_memories',
  `SELECT q.place, c.kind, c.status AS credential_status,
     m.id, m.key, m.text, m.metadata, m.version, m.created_at, m.updated_at
   FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) WITH ORDINALITY
     AS q (agent_id, token_hash, key, place)
   JOIN credentials c ON c.agent_id = q.agent_id AND c.token_hash = q.token_hash
   LEFT JOIN memories m ON m.agent_id = q.agent_id AND m.key = q.key`,
)

const readProfile = statement<AgentRow>(
  'read_profile',
  `SELECT ${AGENT_COLUMNS} FROM agents
   WHERE agent_id = $1
     AND EXISTS (SELECT 1 FROM credentials c WHERE c.agent_id = $1 AND c.token_hash = $2)`,
)

const findBirth = statement<BirthRecord>(
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

const countBirths = statement<CountRow>(
  'count_births',
  `SELECT here.births AS from_address, here.oldest AS oldest_from_address,
     everywhere.births AS in_all, everywhere.oldest AS oldest_in_all
   FROM (SELECT count(*) AS births, min(created_at) AS oldest
         FROM births WHERE born_from = $1 AND created_at > $2) here,
        (SELECT count(*) AS births, min(created_at) AS oldest
         FROM births WHERE created_at > $2) everywhere`,
)

const findAccount = statement<Account>(
  'find_account',
  'SELECT id, email, password_hash AS "passwordHash" FROM accounts WHERE email = $1',
)

const totals = statement<{ agents: number; memories: number }>(
  'totals',
  'SELECT count(*) AS agents, coalesce(sum(memory_count), 0)::BIGINT AS memories FROM agents',
)

interface Reading {
  readonly identity: Identity
  readonly key: string
}

const answerOf = (row: (AdmittedRow & (MemoryRow | { id: null })) | undefined): ReadAnswer => {
  const refused = refusedBy(row)
  if (refused) return refused
  return row && row.id !== null
    ? { outcome: 'found', memory: memoryOf(row) }
    : { outcome: 'missing' }
}

async function readOne(ask: Ask, { identity, key }: Reading): Promise<ReadAnswer> {
  const [row] = await ask(readMemory, identity.agentId, identity.tokenHash, key)
  return answerOf(row)
}

async function readSeveral(ask: Ask, readings: readonly Reading[]): Promise<ReadAnswer[]> {
  const rows = await ask(
    readMemories,
    readings.map(({ identity }) => identity.agentId),
    readings.map(({ identity }) => identity.tokenHash),
    readings.map(({ key }) => key),
  )
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  return readings.map((_, i) => answerOf(byPlace.get(i + 1)))
}

/** Four groups keep the server busy; one of 64 texts is at most a megabyte. */
const READINGS = { atOnce: 4, inGroup: 64 }

/** Reads that come together share one statement, which costs both sides less than one for each. */
export const readTogether = (ask: Ask): ((reading: Reading) => Promise<ReadAnswer>) =>
  together(READINGS, async (readings) =>
    readings.length === 1 && readings[0]
      ? [await readOne(ask, readings[0])]
      : readSeveral(ask, readings),
  )

export const homeReads = (ask: Ask) => ({
  async identify(tokenHash: string): Promise<Identity | undefined> {
    const [row] = await ask(identify, tokenHash)
    return row && { agentId: row.agent_id, kind: row.kind, tokenHash, status: row.status }
  },
  async findBirth(keyHash: string): Promise<BirthRecord | undefined> {
    const [found] = await ask(findBirth, keyHash)
    return found
  },
  async countBirths(bornFrom: string, since: number): Promise<BirthCount> {
    const [row] = await ask(countBirths, bornFrom, since)
    return {
      fromAddress: row?.from_address ?? 0,
      inAll: row?.in_all ?? 0,
      oldestFromAddress: row?.oldest_from_address ?? undefined,
      oldestInAll: row?.oldest_in_all ?? undefined,
    }
  },
  async findAccount(email: string): Promise<Account | undefined> {
    const [found] = await ask(findAccount, email)
    return found
  },
  async readProfile({ agentId, tokenHash }: Identity): Promise<ProfileAnswer> {
    const [row] = await ask(readProfile, agentId, tokenHash)
    return row
      ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
      : { outcome: 'revoked' }
  },
  readMemory: (identity: Identity, key: string) => readOne(ask, { identity, key }),
  async totals(): Promise<{ agents: number; memories: number }> {
    const [found] = await ask(totals)
    return found ?? { agents: 0, memories: 0 }
  },
})

export type HomeReads = ReturnType<typeof homeReads>
