/** Credentials as both engines select them. */
import type { Access, AgentStatus, Identity, KeyBounds, TokenKind } from './port/identity.ts'
import type { NamedKey } from './port/keys.ts'

/** Null for an agent's own token and its operator's, which are not limited. */
export interface BoundsRow {
  key_id: string | null
  name: string | null
  access: Access | null
  prefix: string | null
  expires_at: number | null
  client_id: string | null
  redirect_host: string | null
}

export interface CredentialRow extends BoundsRow {
  agent_id: string
  kind: TokenKind
  status: AgentStatus
  audience: NonNullable<Identity['audience']> | null
}

export interface NamedKeyRow extends BoundsRow {
  created_at: number | null
  last_used_at: number | null
}

export const BOUNDS = 'key_id, name, access, prefix, expires_at, client_id, redirect_host'

/** What an identity is made of. */
export const CREDENTIAL = `agent_id, kind, status, audience, ${BOUNDS}`

export const NAMED_KEY = `${BOUNDS}, created_at, last_used_at`

const boundsOf = (row: BoundsRow): KeyBounds => ({
  id: row.key_id ?? '',
  name: row.name ?? '',
  access: row.access ?? 'read',
  prefix: row.prefix ?? '',
  expiresAt: row.expires_at ?? undefined,
  ...(row.client_id !== null && {
    client: { id: row.client_id, redirectHost: row.redirect_host ?? '' },
  }),
})

export const identityOf = (tokenHash: string, row: CredentialRow): Identity => ({
  agentId: row.agent_id,
  kind: row.kind,
  tokenHash,
  status: row.status,
  ...(row.key_id !== null && { key: boundsOf(row) }),
  ...(row.audience !== null && { audience: row.audience }),
})

export const namedKeyOf = (row: NamedKeyRow): NamedKey => ({
  ...boundsOf(row),
  createdAt: row.created_at ?? 0,
  lastUsedAt: row.last_used_at ?? undefined,
})
