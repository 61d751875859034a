/** Rows as selected, and the domain's objects that they hold. */
import type { AgentStatus, Memory, Profile, Refused, TokenKind } from '../port.ts'

export interface AgentRow {
  agent_id: string
  name: string
  purpose: string
  symbol: string
  status: AgentStatus
  memory_count: number
  created_at: number
  updated_at: number
}

export const AGENT_COLUMNS =
  'agent_id, name, purpose, symbol, status, memory_count, created_at, updated_at'

export const profileOf = (row: AgentRow): Profile => ({
  agentId: row.agent_id,
  name: row.name,
  purpose: row.purpose,
  symbol: row.symbol,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
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

/** The credential that a statement found for an identity: null columns where there is none. */
export interface AdmittedRow {
  kind: TokenKind | null
  credential_status: AgentStatus | null
}

/** Every row of the table on the left, or nulls: the one row that says who may not, and why. */
export type Joined<Row> = AdmittedRow & { readonly [Column in keyof Row]: Row[Column] | null }

export const refusedBy = (row: AdmittedRow | undefined): Refused | undefined => {
  if (!row?.kind) return { outcome: 'revoked' }
  return row.kind === 'agent' && row.credential_status === 'paused'
    ? { outcome: 'paused' }
    : undefined
}
