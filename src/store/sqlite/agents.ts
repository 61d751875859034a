/** Agents: their births, within the births an hour. */
import type { DatabaseSync } from 'node:sqlite'
import type { Birth, BirthAnswer, BirthCount, BirthLimits, BirthRecord } from '../port/home.ts'
import { prepare } from './engine/connection.ts'

/** What this engine selects of agents. */
export const AGENT_COLUMNS =
  'id, name, purpose, symbol, status, memory_count, created_at, updated_at'

export interface BirthRow {
  id: string
  birth_fingerprint: string
  birth_salt: string
  rotated: number
}

export const SELECT_BIRTH =
  'SELECT id, birth_fingerprint, birth_salt, rotated FROM agents WHERE birth_key_hash = ?'

export const birthOf = (row: BirthRow): BirthRecord => ({
  agentId: row.id,
  fingerprint: row.birth_fingerprint,
  salt: row.birth_salt,
  rotated: row.rotated === 1,
})

interface CountRow {
  births: number
  oldest: number | null
}

/** Also used inside the writing transaction, on the writer's connection. */
export function prepareBirthCount(db: DatabaseSync) {
  const fromAddress = prepare<CountRow>(
    db,
    'SELECT count(*) AS births, min(created_at) AS oldest FROM agents WHERE born_from = ? AND created_at > ?',
  )
  const inAll = prepare<CountRow>(
    db,
    'SELECT count(*) AS births, min(created_at) AS oldest FROM agents WHERE created_at > ?',
  )
  return (bornFrom: string, since: number): BirthCount => {
    const here = fromAddress.get(bornFrom, since)
    const all = inAll.get(since)
    return {
      fromAddress: here?.births ?? 0,
      inAll: all?.births ?? 0,
      oldestFromAddress: here?.oldest ?? undefined,
      oldestInAll: all?.oldest ?? undefined,
    }
  }
}

const over = (count: BirthCount, { perAddress, inAll }: BirthLimits): boolean =>
  (perAddress > 0 && count.fromAddress >= perAddress) || (inAll > 0 && count.inAll >= inAll)

export function prepareBirth(db: DatabaseSync) {
  const known = prepare<BirthRow>(db, SELECT_BIRTH)
  const countBirths = prepareBirthCount(db)
  const forgetAddresses = prepare(
    db,
    'UPDATE agents SET born_from = NULL WHERE born_from IS NOT NULL AND created_at <= ?',
  )
  const addAccount = prepare(
    db,
    'INSERT INTO accounts (id, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING id',
  )
  const addAgent = prepare(
    db,
    `INSERT INTO agents (id, name, purpose, symbol, status, account_id, birth_key_hash,
       birth_fingerprint, birth_salt, born_from, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'active', ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addCredential = prepare(
    db,
    'INSERT INTO credentials (token_hash, agent_id, kind) VALUES (?, ?, ?)',
  )

  /** The account's id; null without one; undefined when it exists already. */
  function accountId({ account }: Birth, now: number): string | null | undefined {
    if (!account) return null
    if ('join' in account) return account.join
    const { id, email, passwordHash } = account.create
    return addAccount.get(id, email, passwordHash, now) && id
  }

  function insert(birth: Birth, account: string | null, now: number): void {
    const { agentId, name, purpose, symbol, keyHash, fingerprint, salt, bornFrom } = birth
    addAgent.run(
      ...[agentId, name, purpose, symbol, account],
      ...[keyHash, fingerprint, salt, bornFrom, now, now],
    )
    addCredential.run(birth.agentTokenHash, agentId, 'agent')
    addCredential.run(birth.operatorTokenHash, agentId, 'operator')
  }

  return (birth: Birth, limits: BirthLimits, now: number): BirthAnswer => {
    const row = known.get(birth.keyHash)
    if (row) return { outcome: 'known', birth: birthOf(row) }
    const since = now - limits.windowMs
    const count = countBirths(birth.bornFrom, since)
    if (over(count, limits)) return { outcome: 'over_limit', count }
    const account = accountId(birth, now)
    if (account === undefined) return { outcome: 'account_exists' }
    forgetAddresses.run(since)
    insert(birth, account, now)
    return { outcome: 'born' }
  }
}
