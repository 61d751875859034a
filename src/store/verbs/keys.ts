/** Tokens and named keys of an agent. */
import { BY_HOST } from '../answers.ts'
import { NAMED_KEY, type NamedKeyRow, namedKeyOf } from '../credentials.ts'
import { startOfDay } from '../port/activity.ts'
import type { ResetAnswer } from '../port/host.ts'
import type { Identity } from '../port/identity.ts'
import {
  type CreateKeyAnswer,
  type EndKeyAnswer,
  KEYS_PER_AGENT,
  type KeysAnswer,
  type NamedKey,
  type NewKey,
  type NewOperatorToken,
  type ReplaceAnswer,
  type Replacement,
  USE_MS,
} from '../port/keys.ts'
import { namedKeyText } from '../rows.ts'
import { agentReads } from './agents.ts'
import { doneBy, type LogEvent, refuse, takeControl } from './controls.ts'
import { forgetRecords, reusesOf } from './oauth.ts'
import { ask, statement, type Verb } from './verb.ts'

const list = statement<NamedKeyRow>(`
  SELECT ${NAMED_KEY} FROM credentials
  WHERE agent_id = $1 AND kind = 'agent' AND key_id IS NOT NULL AND audience IS NULL
  ORDER BY created_at DESC, key_id DESC`)

const count = statement<{ keys: number }>(`
  SELECT count(key_id) AS keys FROM credentials
  WHERE agent_id = $1 AND kind = 'agent' AND audience IS NULL`)

const dropExpired = statement(
  `DELETE FROM credentials WHERE agent_id = $1 AND kind = 'agent' AND expires_at <= $2`,
)

const dropAll = statement(
  `DELETE FROM credentials WHERE agent_id = $1 AND kind = 'agent' AND key_id IS NOT NULL`,
)

const drop = statement<NamedKeyRow>(`
  DELETE FROM credentials
  WHERE agent_id = $1 AND kind = 'agent' AND key_id = $2 AND audience IS NULL
  RETURNING ${NAMED_KEY}`)

const dropIssued = statement('DELETE FROM credentials WHERE agent_id = $1 AND key_id = $2')

const add = statement(`
  INSERT INTO credentials (agent_id, token_hash, kind, status, key_id, name, access, prefix,
    expires_at, created_at, client_id, redirect_host, granted_until)
  SELECT agent_id, $2, 'agent', status, $3, $4, $5, $6, CAST($7 AS BIGINT), CAST($8 AS BIGINT),
    $9, $10, CAST($11 AS BIGINT)
  FROM agents WHERE agent_id = $1`)

const noteUse = statement(`
  UPDATE credentials SET last_used_at = CAST($3 AS BIGINT)
  WHERE agent_id = $1 AND kind = 'agent' AND key_id = $2 AND audience IS NULL
    AND coalesce(last_used_at, 0) <= CAST($3 AS BIGINT) - ${USE_MS}`)

const noteWake = statement(`
  UPDATE credentials SET woke_at = CAST($4 AS BIGINT), woke_event = CAST($6 AS BIGINT)
  WHERE agent_id = $1 AND kind = $2 AND coalesce(key_id, '') = $3 AND audience IS NULL
    AND coalesce(woke_at, 0) < CAST($5 AS BIGINT)`)

const renewAgentToken = statement(
  `UPDATE credentials SET token_hash = $2 WHERE agent_id = $1 AND kind = 'agent'`,
)

const renewOperatorToken = statement<{ agent_id: string }>(`
  UPDATE credentials SET token_hash = $2 WHERE agent_id = $1 AND kind = 'operator'
  RETURNING agent_id`)

const markRotated = statement('UPDATE agents SET rotated = true WHERE agent_id = $1')

const replacementOf = statement<{ keyHash: string; salt: string; replacedHash: string }>(`
  SELECT key_hash AS "keyHash", salt, replaced_hash AS "replacedHash"
  FROM operator_replacements WHERE agent_id = $1`)

export const REPLACEMENT_BY_TOKEN = `
  SELECT agent_id AS "agentId", key_hash AS "keyHash", salt
  FROM operator_replacements WHERE replaced_hash = $1`

const replacementBy = statement<Replacement>(REPLACEMENT_BY_TOKEN)

const recordReplacement = statement(`
  INSERT INTO operator_replacements (agent_id, key_hash, salt, replaced_hash)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT (agent_id) DO UPDATE SET key_hash = $2, salt = $3, replaced_hash = $4`)

const forgetReplacement = statement('DELETE FROM operator_replacements WHERE agent_id = $1')

/** The agent stays in the account whose owner replaced the token. */
const leaveOthers = statement(`
  UPDATE agents SET rotated = true, account_id = CASE WHEN account_id = $2 THEN account_id END
  WHERE agent_id = $1`)

function* isFull(agentId: string): Verb<boolean> {
  const [row] = yield* ask(count, agentId)
  return (row?.keys ?? 0) >= KEYS_PER_AGENT
}

const withReuse = (key: NamedKey, reused: NamedKey['reused']): NamedKey =>
  reused ? { ...key, reused } : key

export const keyReads = {
  *listKeys(identity: Identity): Verb<KeysAnswer> {
    if (yield* refuse(identity)) return { outcome: 'revoked' }
    const keys = (yield* ask(list, identity.agentId)).map(namedKeyOf)
    const reuses = yield* reusesOf(identity.agentId)
    return { outcome: 'keys', keys: keys.map((key) => withReuse(key, reuses.get(key.id))) }
  },

  *findReplacement(replacedTokenHash: string): Verb<Replacement | undefined> {
    const [replacement] = yield* ask(replacementBy, replacedTokenHash)
    return replacement
  },
}

export const keyUses = {
  *noteUse({ agentId, key }: Identity, now: number): Verb<void> {
    if (key) yield* ask(noteUse, agentId, key.id, now)
  },

  *noteWake({ agentId, kind, key }: Identity, event: number, now: number): Verb<void> {
    yield* ask(noteWake, agentId, kind, key?.id ?? '', now, startOfDay(now), event)
  },
}

export const keyWrites = (logEvent: LogEvent) => ({
  *rotateAgentToken(identity: Identity, newTokenHash: string, now: number) {
    if (yield* takeControl(identity)) return { outcome: 'revoked' } as const
    const { agentId } = identity
    yield* ask(dropAll, agentId)
    yield* forgetRecords(agentId)
    yield* ask(renewAgentToken, agentId, newTokenHash)
    yield* ask(markRotated, agentId)
    yield* logEvent(doneBy(identity), 'rotate_key', now)
    return { outcome: 'rotated' } as const
  },

  *createKey(
    identity: Identity,
    { grantedUntil, ...key }: NewKey,
    tokenHash: string,
    now: number,
  ): Verb<CreateKeyAnswer> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    const { agentId } = identity
    if (yield* isFull(agentId)) yield* ask(dropExpired, agentId, now)
    if (yield* isFull(agentId)) return { outcome: 'too_many' }
    const { id, name, access, prefix, expiresAt, client } = key
    const granted = [client?.id, client?.redirectHost, grantedUntil]
    yield* ask(add, agentId, tokenHash, id, name, access, prefix, expiresAt, now, ...granted)
    yield* logEvent(doneBy(identity), 'create_key', now, namedKeyText(key))
    return { outcome: 'created', key: { ...key, createdAt: now, lastUsedAt: undefined } }
  },

  *endKey(identity: Identity, id: string, now: number): Verb<EndKeyAnswer> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    const [row] = yield* ask(drop, identity.agentId, id)
    if (!row) return { outcome: 'missing' }
    if (row.client_id !== null) {
      yield* ask(dropIssued, identity.agentId, id)
      yield* forgetRecords(identity.agentId, id)
    }
    const key = namedKeyOf(row)
    yield* logEvent(doneBy(identity), 'revoke_key', now, namedKeyText(key))
    return { outcome: 'ended', key }
  },
})

export const operatorWrites = (logEvent: LogEvent) => ({
  *replaceOperatorToken(
    identity: Identity,
    token: NewOperatorToken,
    now: number,
  ): Verb<ReplaceAnswer> {
    const { agentId, tokenHash, account } = identity
    const { keyHash, salt } = token
    const refused = yield* takeControl(identity)
    const [before] = yield* ask(replacementOf, agentId)
    const isAgain = !refused || before?.replacedHash === tokenHash
    if (before?.keyHash === keyHash && isAgain) return { outcome: 'known', salt: before.salt }
    if (refused) return { outcome: 'revoked' }
    yield* ask(renewOperatorToken, agentId, token.tokenHash)
    yield* ask(recordReplacement, agentId, keyHash, salt, tokenHash)
    const owner = account === undefined ? undefined : yield* agentReads.findAccount(account)
    yield* ask(leaveOthers, agentId, owner?.id)
    yield* logEvent(doneBy(identity), 'replace_operator_key', now)
    return { outcome: 'replaced' }
  },

  /** By the owner of the host, without a credential. */
  *resetOperatorToken(agentId: string, tokenHash: string, now: number): Verb<ResetAnswer> {
    const [renewed] = yield* ask(renewOperatorToken, agentId, tokenHash)
    if (!renewed) return { outcome: 'missing' }
    yield* ask(forgetReplacement, agentId)
    yield* ask(leaveOthers, agentId, null)
    yield* logEvent({ agentId, by: BY_HOST }, 'replace_operator_key', now)
    return { outcome: 'replaced' }
  },
})
