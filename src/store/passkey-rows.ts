/** Passkeys as either engine selects them, and the domain's objects that they hold. */
import type { FoundPasskey, Passkey } from './port/accounts/passkeys.ts'

export interface PasskeyRow {
  id: string
  account_id: string
  public_key: string
  counter: number
  site: string
  transports: string
  user_agent: string
  created_at: number
  used_at: number | null
}

export interface FoundPasskeyRow extends PasskeyRow {
  email: string
}

const COLUMNS = [
  ...['id', 'account_id', 'public_key', 'counter', 'site', 'transports', 'user_agent'],
  ...['created_at', 'used_at'],
]

export const LIST_PASSKEYS = `SELECT ${COLUMNS.join(', ')} FROM passkeys`

export const FIND_PASSKEY = `
  SELECT ${COLUMNS.map((name) => `p.${name}`).join(', ')}, a.email
  FROM passkeys p JOIN accounts a ON a.id = p.account_id`

/** None of them holds a space. */
export const transportsText = (transports: readonly string[]): string => transports.join(' ')

export const passkeyOf = (row: PasskeyRow): Passkey => ({
  id: row.id,
  accountId: row.account_id,
  publicKey: row.public_key,
  counter: row.counter,
  site: row.site,
  transports: row.transports.split(' ').filter(Boolean),
  userAgent: row.user_agent,
  createdAt: row.created_at,
  usedAt: row.used_at ?? undefined,
})

export const foundPasskeyOf = (row: FoundPasskeyRow): FoundPasskey => ({
  ...passkeyOf(row),
  email: row.email,
})
