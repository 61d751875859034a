/** Rows of sessions and of their accounts' agents, as either engine selects them. */
import type { Identity } from './port/home.ts'
import type { Owner, Session } from './port/sessions.ts'

export interface SessionRow {
  id: string
  account_id: string
  email: string
  user_agent: string
  place: string
  created_at: number
  seen_at: number
  expires_at: number
  confirmed_at: number
  turn: number
}

export const SELECT_SESSION = `
  SELECT s.id, s.account_id, a.email, s.user_agent, s.place, s.created_at, s.seen_at, s.expires_at,
    s.confirmed_at, s.turn
  FROM sessions s JOIN accounts a ON a.id = s.account_id`

export const sessionOf = (row: SessionRow): Session => ({
  id: row.id,
  accountId: row.account_id,
  email: row.email,
  userAgent: row.user_agent,
  place: row.place,
  createdAt: row.created_at,
  seenAt: row.seen_at,
  expiresAt: row.expires_at,
  confirmedAt: row.confirmed_at,
  turn: row.turn,
})

export interface OwnerRow extends Pick<Identity, 'tokenHash' | 'status'> {
  lastEvent: number
}

export const ownerOf = (agentId: string, { tokenHash, status, lastEvent }: OwnerRow): Owner => ({
  identity: { agentId, kind: 'operator', tokenHash, status },
  lastEvent,
})
