/** Records of OAuth, and the access tokens of granted keys. */
import { NAMED_KEY, type NamedKeyRow, namedKeyOf } from '../credentials.ts'
import type { Author } from '../port/identity.ts'
import type { NamedKey } from '../port/keys.ts'
import {
  type FoundRecord,
  type Grant,
  type GrantedKey,
  type NewAccess,
  type OAuthRecord,
  RECORDS_PER_GRANT,
  type Reuse,
  TOKENS_PER_GRANT,
} from '../port/oauth.ts'
import { namedKeyText } from '../rows.ts'
import type { LogEvent } from './controls.ts'
import { ask, statement, sweep, type Verb } from './verb.ts'

const sweepExpired = sweep('oauth_records', 'id_hash')

const keep = statement(`
  INSERT INTO oauth_records (id_hash, kind, agent_id, key_id, payload, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id_hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`)

/** Sessions that ended without a word leave records that nobody uses. */
const forgetOldest = statement(`
  DELETE FROM oauth_records WHERE id_hash IN (
    SELECT id_hash FROM (
      SELECT id_hash, ROW_NUMBER() OVER (
        PARTITION BY consumed_at IS NULL ORDER BY COALESCE(consumed_at, expires_at) DESC) AS place
      FROM oauth_records WHERE agent_id = $1 AND key_id = $2 AND kind = $3) AS placed
    WHERE place > ${RECORDS_PER_GRANT})`)

const find = statement<{ payload: string; consumedAt: number | null }>(`
  SELECT payload, consumed_at AS "consumedAt" FROM oauth_records
  WHERE id_hash = $1 AND expires_at > $2`)

const prolong = statement(
  'UPDATE oauth_records SET expires_at = $2 WHERE id_hash = $1 AND expires_at < $2',
)

const consume = statement<{ id_hash: string }>(`
  UPDATE oauth_records SET consumed_at = $2 WHERE id_hash = $1 AND consumed_at IS NULL
  RETURNING id_hash`)

const drop = statement('DELETE FROM oauth_records WHERE id_hash = $1')

const dropOfAgent = statement('DELETE FROM oauth_records WHERE agent_id = $1')

const dropOfGrant = statement('DELETE FROM oauth_records WHERE agent_id = $1 AND key_id = $2')

const dropOfKind = statement(
  'DELETE FROM oauth_records WHERE agent_id = $1 AND key_id = $2 AND kind = $3',
)

const REUSE = 'Reuse'

interface ReuseRow {
  key_id: string
  times: string
  last_at: number
}

const reuses = statement<ReuseRow>(`
  SELECT key_id, payload AS times, consumed_at AS last_at FROM oauth_records
  WHERE agent_id = $1 AND kind = '${REUSE}'`)

const countReuse = statement(`
  INSERT INTO oauth_records (id_hash, kind, agent_id, key_id, payload, consumed_at, expires_at)
  VALUES ($1, '${REUSE}', $2, $3, '1', $4, $5)
  ON CONFLICT (id_hash) DO UPDATE SET
    payload = CAST(CAST(oauth_records.payload AS BIGINT) + 1 AS TEXT),
    consumed_at = excluded.consumed_at, expires_at = excluded.expires_at`)

/** How often tokens of the agent's keys came again, by the key. */
export function* reusesOf(agentId: string): Verb<ReadonlyMap<string, NamedKey['reused']>> {
  const rows = yield* ask(reuses, agentId)
  return new Map(
    rows.map(({ key_id, times, last_at }) => [key_id, { times: Number(times), lastAt: last_at }]),
  )
}

/** All that OAuth keeps of an agent, or of one grant of it. */
export const forgetRecords = (agentId: string, keyId?: string) =>
  keyId === undefined ? ask(dropOfAgent, agentId) : ask(dropOfGrant, agentId, keyId)

interface GrantRow extends NamedKeyRow {
  granted_until: number | null
}

const findKey = statement<GrantRow>(`
  SELECT ${NAMED_KEY}, granted_until FROM credentials
  WHERE agent_id = $1 AND key_id = $2 AND client_id IS NOT NULL AND audience IS NULL
    AND expires_at > $3`)

/** As the operator's changes do, so that no token is issued for a key that is being revoked. */
const lockOperator = statement(
  `SELECT token_hash FROM credentials WHERE agent_id = $1 AND kind = 'operator' FOR UPDATE`,
)

const endOld = statement(`
  DELETE FROM credentials WHERE agent_id = $1 AND key_id = $2 AND audience IS NOT NULL
    AND (expires_at <= $3 OR token_hash NOT IN (
      SELECT token_hash FROM credentials
      WHERE agent_id = $1 AND key_id = $2 AND audience IS NOT NULL
      ORDER BY created_at DESC, expires_at DESC LIMIT ${TOKENS_PER_GRANT - 1}))`)

const issue = statement(`
  INSERT INTO credentials (agent_id, token_hash, kind, status, key_id, name, access, prefix,
    expires_at, created_at, client_id, redirect_host, audience)
  SELECT agent_id, $3, kind, status, key_id, name,
    CASE WHEN access = 'read' THEN access ELSE $4 END, prefix, CAST($5 AS BIGINT),
    CAST($6 AS BIGINT), client_id, redirect_host, 'mcp'
  FROM credentials WHERE agent_id = $1 AND key_id = $2 AND audience IS NULL`)

const moveEnd = statement(`
  UPDATE credentials SET expires_at = $3
  WHERE agent_id = $1 AND key_id = $2 AND audience IS NULL`)

const endIssued = statement(`
  DELETE FROM credentials WHERE agent_id = $1 AND key_id = $2 AND audience IS NOT NULL
    AND (CAST($3 AS TEXT) IS NULL OR token_hash = $3)`)

const endKey = statement('DELETE FROM credentials WHERE agent_id = $1 AND key_id = $2')

function* grantOf({ agentId, keyId }: Grant, now: number): Verb<GrantedKey | undefined> {
  const [row] = yield* ask(findKey, agentId, keyId, now)
  return row && { ...namedKeyOf(row), grantedUntil: row.granted_until ?? undefined }
}

export const oauthReads = {
  *findRecord(idHash: string, now: number): Verb<FoundRecord | undefined> {
    const [row] = yield* ask(find, idHash, now)
    return row && { payload: row.payload, consumedAt: row.consumedAt ?? undefined }
  },

  findGrant: grantOf,
}

export const oauthWrites = {
  *keepRecord(record: OAuthRecord, now: number): Verb<void> {
    const { idHash, kind, grant, payload, expiresAt } = record
    yield* ask(sweepExpired, now)
    yield* ask(keep, idHash, kind, grant?.agentId, grant?.keyId, payload, expiresAt)
    if (grant) yield* ask(forgetOldest, grant.agentId, grant.keyId, kind)
  },

  *prolongRecord(idHash: string, expiresAt: number): Verb<void> {
    yield* ask(prolong, idHash, expiresAt)
  },

  *consumeRecord(idHash: string, now: number): Verb<boolean> {
    return (yield* ask(consume, idHash, now)).length > 0
  },

  *dropRecord(idHash: string): Verb<void> {
    yield* ask(drop, idHash)
  },

  *dropRecordsOf({ agentId, keyId }: Grant, kind: string): Verb<void> {
    yield* ask(dropOfKind, agentId, keyId, kind)
  },
}

const hourOf = (at: number): number => Math.floor(at / 3_600_000)

const doneWith = ({ id, name }: NamedKey): Author => ({
  ...{ as: 'agent', via: 'mcp', key: { id, name } },
})

export const accessWrites = (logEvent: LogEvent) => ({
  *issueAccess(sent: NewAccess, now: number): Verb<boolean> {
    const { agentId, keyId } = sent.grant
    yield* ask(lockOperator, agentId)
    const key = yield* grantOf(sent.grant, now)
    if (!key) return false
    const keyExpiresAt = Math.min(sent.keyExpiresAt, key.grantedUntil ?? sent.keyExpiresAt)
    const expiresAt = Math.min(sent.expiresAt, keyExpiresAt)
    yield* ask(endOld, agentId, keyId, now)
    yield* ask(issue, agentId, keyId, sent.tokenHash, sent.access, expiresAt, now)
    yield* ask(moveEnd, agentId, keyId, keyExpiresAt)
    return true
  },

  *endAccess({ agentId, keyId }: Grant, tokenHash?: string): Verb<void> {
    yield* ask(lockOperator, agentId)
    yield* ask(endIssued, agentId, keyId, tokenHash)
  },

  *noteReuse({ grant, idHash, expiresAt }: Reuse, now: number): Verb<boolean> {
    const { agentId, keyId } = grant
    yield* ask(lockOperator, agentId)
    const key = yield* grantOf(grant, now)
    if (!key) return false
    const before = (yield* reusesOf(agentId)).get(keyId)
    yield* ask(countReuse, idHash, agentId, keyId, now, expiresAt)
    if (before && hourOf(before.lastAt) === hourOf(now)) return true
    yield* logEvent({ agentId, by: doneWith(key) }, 'reuse_token', now, namedKeyText(key))
    return true
  },

  *endGrant(grant: Grant, now: number, isTheft = false): Verb<void> {
    const { agentId, keyId } = grant
    yield* ask(lockOperator, agentId)
    const key = yield* grantOf(grant, now)
    yield* ask(endKey, agentId, keyId)
    yield* forgetRecords(agentId, keyId)
    if (!key) return
    const home = { agentId, by: doneWith(key) }
    if (isTheft) yield* logEvent(home, 'suspect_theft', now, namedKeyText(key))
    yield* logEvent(home, 'revoke_key', now, namedKeyText(key))
  },
})
