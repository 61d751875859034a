/** Rows as either engine selects them, and the domain's objects that they hold. */
import type { AgentStatus, Memory, Profile } from './port/home.ts'

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
