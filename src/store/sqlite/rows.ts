/** What this engine selects of agents and credentials. */
import type { AgentStatus, TokenKind } from '../port.ts'

export const AGENT_COLUMNS =
  'id, name, purpose, symbol, status, memory_count, created_at, updated_at'

export interface CredentialRow {
  agent_id: string
  kind: TokenKind
  status: AgentStatus
  memory_count: number
}

export const SELECT_CREDENTIAL = `
  SELECT c.agent_id, c.kind, a.status, a.memory_count
  FROM credentials c JOIN agents a ON a.id = c.agent_id
  WHERE c.token_hash = ?`
