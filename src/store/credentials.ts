/** Credentials as both engines select them. */
import type { AgentStatus, Identity, TokenKind } from './port/home.ts'
import type { Access, KeyBounds, NamedKey } from './port/keys.ts'

/** Null for an agent's own token and its operator's, which are not limited. */
export interface BoundsRow {
  key_id: string | null
  name: string | null
  access: Access | null
  prefix: string | null
  expires_at: number | null
}

export interface CredentialRow extends BoundsRow {
  agent_id: string
  kind: TokenKind
  status: AgentStatus
}

export interface NamedKeyRow extends BoundsRow {
  created_at: number | null
  last_used_at: number | null
}

export const BOUNDS = 'key_id, name, access, prefix, expires_at'

export const NAMED_KEY = `${BOUNDS}, created_at, last_used_at`

const boundsOf = ({ key_id: id, name, access, prefix, expires_at }: BoundsRow): KeyBounds => ({
  id: id ?? '',
  name: name ?? '',
  access: access ?? 'read',
  prefix: prefix ?? '',
  expiresAt: expires_at ?? undefined,
})

export const identityOf = (tokenHash: string, row: CredentialRow): Identity => ({
  agentId: row.agent_id,
  kind: row.kind,
  tokenHash,
  status: row.status,
  ...(row.key_id !== null && { key: boundsOf(row) }),
})

export const namedKeyOf = (row: NamedKeyRow): NamedKey => ({
  ...boundsOf(row),
  createdAt: row.created_at ?? 0,
  lastUsedAt: row.last_used_at ?? undefined,
})
