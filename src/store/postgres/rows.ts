/** What this engine selects of agents, and the credential that comes with every answer. */
import type { AgentStatus, Refused, TokenKind } from '../port/home.ts'

export const AGENT_COLUMNS =
  'agent_id AS id, name, purpose, symbol, status, memory_count, created_at, updated_at'

/** The credential that a statement found for an identity: null columns where there is none. */
export interface AdmittedRow {
  kind: TokenKind | null
  credential_status: AgentStatus | null
}

export const refusedBy = (row: AdmittedRow | undefined): Refused | undefined => {
  if (!row?.kind) return { outcome: 'revoked' }
  return row.kind === 'agent' && row.credential_status === 'paused'
    ? { outcome: 'paused' }
    : undefined
}
