/** The credentials of an agent: they are made, replaced and ended here. */
import { NAMED_KEY, type NamedKeyRow, namedKeyOf } from '../credentials.ts'
import type { Identity } from '../port/home.ts'
import {
  type CreateKeyAnswer,
  type EndKeyAnswer,
  KEYS_PER_AGENT,
  type KeyBounds,
  type KeyStore,
  type KeysAnswer,
  type NewOperatorToken,
  type ReplaceAnswer,
  type Replacement,
  USE_MS,
} from '../port/keys.ts'
import { namedKeyText } from '../rows.ts'
import { doneBy, type Happen, happenings, takeControl } from './controls.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { type AdmittedRow, refusedBy } from './identities.ts'

const dropKeys = statement(
  'drop_keys',
  `DELETE FROM credentials WHERE agent_id = $1 AND kind = 'agent' AND key_id IS NOT NULL`,
)

const renewAgentToken = statement(
  'renew_agent_token',
  `UPDATE credentials SET token_hash = $2 WHERE agent_id = $1 AND kind = 'agent'`,
)

const markRotated = statement(
  'mark_rotated',
  'UPDATE agents SET rotated = true WHERE agent_id = $1',
)

const rotate =
  (happen: Happen, identity: Identity, newTokenHash: string, now: number) => async (ask: Ask) => {
    if (await takeControl(ask, identity)) return { outcome: 'revoked' } as const
    await ask(dropKeys, identity.agentId)
    await ask(renewAgentToken, identity.agentId, newTokenHash)
    await ask(markRotated, identity.agentId)
    await happen(ask, doneBy(identity), 'rotate_key', now)
    return { outcome: 'rotated' } as const
  }

const countKeys = statement<{ keys: number }>(
  'count_keys',
  `SELECT count(key_id) AS keys FROM credentials WHERE agent_id = $1 AND kind = 'agent'`,
)

const dropExpired = statement(
  'drop_expired_keys',
  `DELETE FROM credentials WHERE agent_id = $1 AND kind = 'agent' AND expires_at <= $2`,
)

const addKey = statement(
  'add_key',
  `INSERT INTO credentials (agent_id, token_hash, kind, status, key_id, name, access, prefix,
     expires_at, created_at)
   SELECT agent_id, $2, 'agent', status, $3, $4, $5, $6, $7::BIGINT, $8::BIGINT
   FROM agents WHERE agent_id = $1`,
)

async function isFull(ask: Ask, agentId: string): Promise<boolean> {
  const [row] = await ask(countKeys, agentId)
  return (row?.keys ?? 0) >= KEYS_PER_AGENT
}

interface NewKey {
  readonly key: KeyBounds
  readonly tokenHash: string
}

const create =
  (happen: Happen, identity: Identity, { key, tokenHash }: NewKey, now: number) =>
  async (ask: Ask): Promise<CreateKeyAnswer> => {
    if (await takeControl(ask, identity)) return { outcome: 'revoked' }
    const { agentId } = identity
    if (await isFull(ask, agentId)) await ask(dropExpired, agentId, now)
    if (await isFull(ask, agentId)) return { outcome: 'too_many' }
    const { id, name, access, prefix, expiresAt = null } = key
    await ask(addKey, agentId, tokenHash, id, name, access, prefix, expiresAt, now)
    await happen(ask, doneBy(identity), 'create_key', now, namedKeyText(key))
    return { outcome: 'created', key: { ...key, createdAt: now, lastUsedAt: undefined } }
  }

const dropKey = statement<NamedKeyRow>(
  'drop_key',
  `DELETE FROM credentials WHERE agent_id = $1 AND kind = 'agent' AND key_id = $2
   RETURNING ${NAMED_KEY}`,
)

const end =
  (happen: Happen, identity: Identity, id: string, now: number) =>
  async (ask: Ask): Promise<EndKeyAnswer> => {
    if (await takeControl(ask, identity)) return { outcome: 'revoked' }
    const [row] = await ask(dropKey, identity.agentId, id)
    if (!row) return { outcome: 'missing' }
    const key = namedKeyOf(row)
    await happen(ask, doneBy(identity), 'revoke_key', now, namedKeyText(key))
    return { outcome: 'ended', key }
  }

interface ReplacementRow extends Replacement {
  replacedHash: string
}

const REPLACEMENT = `SELECT agent_id AS "agentId", key_hash AS "keyHash", salt,
  replaced_hash AS "replacedHash" FROM operator_replacements`

const replacementOf = statement<ReplacementRow>(
  'replacement_of_agent',
  `${REPLACEMENT} WHERE agent_id = $1`,
)

const replacementBy = statement<ReplacementRow>(
  'replacement_by_token',
  `${REPLACEMENT} WHERE replaced_hash = $1`,
)

const renewOperatorToken = statement(
  'renew_operator_token',
  `UPDATE credentials SET token_hash = $2 WHERE agent_id = $1 AND kind = 'operator'`,
)

const recordReplacement = statement(
  'record_replacement',
  `INSERT INTO operator_replacements (agent_id, key_hash, salt, replaced_hash)
   VALUES ($1, $2, $3, $4)
   ON CONFLICT (agent_id) DO UPDATE SET key_hash = $2, salt = $3, replaced_hash = $4`,
)

const leaveAccounts = statement(
  'leave_accounts',
  `UPDATE agents SET rotated = true,
     account_id = (SELECT a.id FROM accounts a WHERE a.id = account_id AND a.email = $2)
   WHERE agent_id = $1`,
)

const replace =
  (happen: Happen, identity: Identity, token: NewOperatorToken, now: number) =>
  async (ask: Ask): Promise<ReplaceAnswer> => {
    const { agentId, tokenHash, account = null } = identity
    const { keyHash, salt } = token
    const refused = await takeControl(ask, identity)
    const [before] = await ask(replacementOf, agentId)
    const isAgain = !refused || before?.replacedHash === tokenHash
    if (before?.keyHash === keyHash && isAgain) return { outcome: 'known', salt: before.salt }
    if (refused) return { outcome: 'revoked' }
    await ask(renewOperatorToken, agentId, token.tokenHash)
    await ask(recordReplacement, agentId, keyHash, salt, tokenHash)
    await ask(leaveAccounts, agentId, account)
    await happen(ask, doneBy(identity), 'replace_operator_key', now)
    return { outcome: 'replaced' }
  }

const listKeys = statement<AdmittedRow & NamedKeyRow>(
  'list_keys',
  `SELECT c.kind, c.status AS credential_status, k.key_id, k.name, k.access, k.prefix,
     k.expires_at, k.created_at, k.last_used_at
   FROM credentials c LEFT JOIN credentials k
     ON k.agent_id = c.agent_id AND k.kind = 'agent' AND k.key_id IS NOT NULL
   WHERE c.agent_id = $1 AND c.token_hash = $2
   ORDER BY k.created_at DESC, k.key_id COLLATE "C" DESC`,
)

const noteUse = statement<{ key_id: string }>(
  'note_use',
  `UPDATE credentials SET last_used_at = $3::BIGINT
   WHERE agent_id = $1 AND token_hash = $2 AND key_id IS NOT NULL
     AND coalesce(last_used_at, 0) <= $3::BIGINT - ${USE_MS}
   RETURNING key_id`,
)

/** `most` events are kept. */
export function keyVerbs(
  { read, write, transact }: Connections,
  committed: () => void,
  most: number,
): KeyStore {
  const happen = happenings(most)
  async function change<T extends { readonly outcome: string }>(
    outcome: T['outcome'],
    work: (ask: Ask) => Promise<T>,
  ): Promise<T> {
    const answer = await transact(work)
    if (answer.outcome === outcome) committed()
    return answer
  }
  return {
    rotateAgentToken: (identity, tokenHash, now) =>
      change('rotated', rotate(happen, identity, tokenHash, now)),
    createKey: (identity, key, tokenHash, now) =>
      change('created', create(happen, identity, { key, tokenHash }, now)),
    endKey: (identity, id, now) => change('ended', end(happen, identity, id, now)),
    replaceOperatorToken: (identity, token, now) =>
      change('replaced', replace(happen, identity, token, now)),
    async listKeys({ agentId, tokenHash }): Promise<KeysAnswer> {
      const rows = await read(listKeys, agentId, tokenHash)
      if (refusedBy(rows[0])) return { outcome: 'revoked' }
      return {
        outcome: 'keys',
        keys: rows.filter((row) => row.key_id !== null).map(namedKeyOf),
      }
    },
    async noteUse({ agentId, tokenHash }, now) {
      const noted = await write(noteUse, agentId, tokenHash, now)
      if (noted.length > 0) committed()
    },
    async findReplacement(replacedTokenHash) {
      const [row] = await read(replacementBy, replacedTokenHash)
      return row && { agentId: row.agentId, keyHash: row.keyHash, salt: row.salt }
    },
  }
}
