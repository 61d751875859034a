/** The credentials of an agent: they are made, replaced and ended here. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../answers.ts'
import { NAMED_KEY, type NamedKeyRow, namedKeyOf } from '../credentials.ts'
import type { Identity } from '../port/home.ts'
import {
  type CreateKeyAnswer,
  type EndKeyAnswer,
  KEYS_PER_AGENT,
  type KeyBounds,
  type KeysAnswer,
  type NewOperatorToken,
  type ReplaceAnswer,
  type Replacement,
  USE_MS,
} from '../port/keys.ts'
import { namedKeyText } from '../rows.ts'
import { prepare } from './engine/connection.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'

function prepareRotation(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const dropAgentTokens = prepare(
    db,
    "DELETE FROM credentials WHERE agent_id = ? AND kind = 'agent'",
  )
  const addAgentToken = prepare(
    db,
    "INSERT INTO credentials (token_hash, agent_id, kind) VALUES (?, ?, 'agent')",
  )
  const markRotated = prepare(db, 'UPDATE agents SET rotated = 1 WHERE id = ?')
  return (identity: Identity, newTokenHash: string, now: number) => {
    if (refuse(identity)) return { outcome: 'revoked' } as const
    const { agentId } = identity
    dropAgentTokens.run(agentId)
    addAgentToken.run(newTokenHash, agentId)
    markRotated.run(agentId)
    happen(agentId, 'rotate_key', authorOf(identity), now)
    return { outcome: 'rotated' } as const
  }
}

function prepareCreate(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const count = prepare<{ keys: number }>(
    db,
    `SELECT count(key_id) AS keys FROM credentials WHERE agent_id = ? AND kind = 'agent'`,
  )
  const dropExpired = prepare(
    db,
    `DELETE FROM credentials WHERE agent_id = ? AND kind = 'agent' AND expires_at <= ?`,
  )
  const add = prepare(
    db,
    `INSERT INTO credentials
       (token_hash, agent_id, kind, key_id, name, access, prefix, expires_at, created_at)
     VALUES (?, ?, 'agent', ?, ?, ?, ?, ?, ?)`,
  )
  const isFull = (agentId: string): boolean => (count.get(agentId)?.keys ?? 0) >= KEYS_PER_AGENT

  return (identity: Identity, key: KeyBounds, tokenHash: string, now: number): CreateKeyAnswer => {
    if (refuse(identity)) return { outcome: 'revoked' }
    const { agentId } = identity
    if (isFull(agentId)) dropExpired.run(agentId, now)
    if (isFull(agentId)) return { outcome: 'too_many' }
    const { id, name, access, prefix, expiresAt = null } = key
    add.run(tokenHash, agentId, id, name, access, prefix, expiresAt, now)
    happen(agentId, 'create_key', authorOf(identity), now, namedKeyText(key))
    return { outcome: 'created', key: { ...key, createdAt: now, lastUsedAt: undefined } }
  }
}

function prepareEnd(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const drop = prepare<NamedKeyRow>(
    db,
    `DELETE FROM credentials WHERE agent_id = ? AND kind = 'agent' AND key_id = ?
     RETURNING ${NAMED_KEY}`,
  )
  return (identity: Identity, id: string, now: number): EndKeyAnswer => {
    if (refuse(identity)) return { outcome: 'revoked' }
    const row = drop.get(identity.agentId, id)
    if (!row) return { outcome: 'missing' }
    const key = namedKeyOf(row)
    happen(identity.agentId, 'revoke_key', authorOf(identity), now, namedKeyText(key))
    return { outcome: 'ended', key }
  }
}

export function prepareNoteUse(db: DatabaseSync) {
  const note = prepare(
    db,
    `UPDATE credentials SET last_used_at = ?1 WHERE token_hash = ?2
       AND key_id IS NOT NULL AND coalesce(last_used_at, 0) <= ?1 - ${USE_MS}`,
  )
  return ({ tokenHash }: Identity, now: number): void => {
    note.run(now, tokenHash)
  }
}

interface ReplacementRow extends Replacement {
  replacedHash: string
}

const REPLACEMENT = `SELECT agent_id AS agentId, key_hash AS keyHash, salt,
  replaced_hash AS replacedHash FROM operator_replacements`

function prepareOperatorToken(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const known = prepare<ReplacementRow>(db, `${REPLACEMENT} WHERE agent_id = ?`)
  const replace = prepare(
    db,
    "UPDATE credentials SET token_hash = ? WHERE agent_id = ? AND kind = 'operator'",
  )
  const record = prepare(
    db,
    `INSERT INTO operator_replacements (agent_id, key_hash, salt, replaced_hash)
     VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (agent_id) DO UPDATE SET key_hash = ?2, salt = ?3, replaced_hash = ?4`,
  )
  const leaveAccounts = prepare(
    db,
    `UPDATE agents SET rotated = 1,
       account_id = (SELECT a.id FROM accounts a WHERE a.id = account_id AND a.email = ?)
     WHERE id = ?`,
  )
  return (identity: Identity, token: NewOperatorToken, now: number): ReplaceAnswer => {
    const { agentId, tokenHash, account = null } = identity
    const { keyHash, salt } = token
    const refused = refuse(identity)
    const before = known.get(agentId)
    const isAgain = !refused || before?.replacedHash === tokenHash
    if (before?.keyHash === keyHash && isAgain) return { outcome: 'known', salt: before.salt }
    if (refused) return { outcome: 'revoked' }
    replace.run(token.tokenHash, agentId)
    record.run(agentId, keyHash, salt, tokenHash)
    leaveAccounts.run(account, agentId)
    happen(agentId, 'replace_operator_key', authorOf(identity), now)
    return { outcome: 'replaced' }
  }
}

export function prepareKeyReads(db: DatabaseSync, refuse: Refuse) {
  const keys = prepare<NamedKeyRow>(
    db,
    `SELECT ${NAMED_KEY} FROM credentials
     WHERE agent_id = ? AND kind = 'agent' AND key_id IS NOT NULL
     ORDER BY created_at DESC, key_id DESC`,
  )
  const replacement = prepare<ReplacementRow>(db, `${REPLACEMENT} WHERE replaced_hash = ?`)
  return {
    listKeys: (identity: Identity): KeysAnswer =>
      refuse(identity)
        ? { outcome: 'revoked' }
        : { outcome: 'keys', keys: keys.all(identity.agentId).map(namedKeyOf) },
    findReplacement(replacedTokenHash: string): Replacement | undefined {
      const row = replacement.get(replacedTokenHash)
      return row && { agentId: row.agentId, keyHash: row.keyHash, salt: row.salt }
    },
  }
}

export const prepareKeyWrites = (db: DatabaseSync, refuse: Refuse, happen: Happen) => ({
  rotateAgentToken: prepareRotation(db, refuse, happen),
  createKey: prepareCreate(db, refuse, happen),
  endKey: prepareEnd(db, refuse, happen),
  replaceOperatorToken: prepareOperatorToken(db, refuse, happen),
})
