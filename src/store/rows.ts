/** Rows as either engine selects them, and the domain's objects that they hold. */
import type { AgentStatus, Memory, Profile, ProfileAnswer } from './port/home.ts'
import type { MemorySummary, OwnedAgent, Session } from './port/sessions.ts'

export interface AgentRow {
  id: string
  name: string
  purpose: string
  symbol: string
  status: AgentStatus
  memory_count: number
  created_at: number
  updated_at: number
}

export const profileOf = (row: AgentRow): Profile => ({
  agentId: row.id,
  name: row.name,
  purpose: row.purpose,
  symbol: row.symbol,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const profileAnswer = (row: AgentRow | undefined): ProfileAnswer =>
  row
    ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
    : { outcome: 'revoked' }

export const ownedAgentOf = (row: AgentRow): OwnedAgent => ({
  profile: profileOf(row),
  memoryCount: row.memory_count,
})

export interface MemoryRow {
  id: string
  key: string
  text: string
  metadata: string
  version: number
  created_at: number
  updated_at: number
}

export const MEMORY_COLUMNS = 'id, key, text, metadata, version, created_at, updated_at'

export const memoryOf = (row: MemoryRow): Memory => ({
  id: row.id,
  key: row.key,
  text: row.text,
  metadata: row.metadata,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export interface SummaryRow {
  key: string
  bytes: number
  version: number
  created_at: number
  updated_at: number
}

export const SUMMARY_COLUMNS = 'key, octet_length(text) AS bytes, version, created_at, updated_at'

export const summaryOf = (row: SummaryRow): MemorySummary => ({
  key: row.key,
  bytes: row.bytes,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Greater than every key with the prefix: no key holds DEL. */
export const endOf = (prefix: string): string => `${prefix}\u007f`

export interface SessionRow {
  id: string
  account_id: string
  email: string
  user_agent: string
  created_at: number
  seen_at: number
  expires_at: number
}

export const SELECT_SESSION = `
  SELECT s.id, s.account_id, a.email, s.user_agent, s.created_at, s.seen_at, s.expires_at
  FROM sessions s JOIN accounts a ON a.id = s.account_id`

export const sessionOf = (row: SessionRow): Session => ({
  id: row.id,
  accountId: row.account_id,
  email: row.email,
  userAgent: row.user_agent,
  createdAt: row.created_at,
  seenAt: row.seen_at,
  expiresAt: row.expires_at,
})
