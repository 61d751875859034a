/**
 * Identities, cached briefly so that a warm request asks the database once. The cache is a hint:
 * another node may revoke a token, so every verb checks it again.
 */
import { LRUCache } from 'lru-cache'
import { refusalOf } from '../answers.ts'
import { CREDENTIAL, type CredentialRow, identityOf } from '../credentials.ts'
import type { AgentStatus, Identity, Refused, TokenKind } from '../port/identity.ts'
import type { Ask } from './engine/session.ts'
import { byToken, findByToken } from './sharded.ts'

const identity = byToken<CredentialRow>(
  `SELECT ${CREDENTIAL} FROM credentials WHERE token_hash = $1`,
)

/** The identity's credential as a statement found it: null columns if there is none. */
export interface AdmittedRow {
  kind: TokenKind | null
  credential_status: AgentStatus | null
}

export const refusedBy = (row: AdmittedRow | undefined): Refused | undefined =>
  refusalOf(row?.kind, row?.credential_status)

export const ADMITTED = `
  admitted AS (
    SELECT kind, status FROM credentials WHERE agent_id = $1 AND token_hash = $2 FOR SHARE
  )`

export const MAY = `EXISTS (SELECT 1 FROM admitted WHERE kind = 'operator' OR status = 'active')`

const MAX_REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

export interface Identities {
  find(tokenHash: string): Identity | undefined
  /** A paused agent is not cached, so that it can continue as soon as it is resumed. */
  remember(identity: Identity): void
  forget(tokenHash: string): void
  forgetAgent(agentId: string): void
}

export function rememberIdentities(stopwatch: () => number): Identities {
  const known = new LRUCache<string, Identity>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now: stopwatch },
  })
  return {
    find: (tokenHash) => known.get(tokenHash),
    remember(identity) {
      if (identity.status !== 'paused') known.set(identity.tokenHash, identity)
    },
    forget(tokenHash) {
      known.delete(tokenHash)
    },
    forgetAgent(agentId) {
      for (const { agentId: its, tokenHash } of [...known.values()]) {
        if (its === agentId) known.delete(tokenHash)
      }
    },
  }
}

export function identityVerbs(read: Ask, known: Identities, sharded: boolean) {
  const find = findByToken(read, sharded, identity)

  async function lookUp(tokenHash: string): Promise<Identity | undefined> {
    const row = await find(tokenHash)
    if (!row) return undefined
    const found = identityOf(tokenHash, row)
    known.remember(found)
    return found
  }

  /** A refusal means that the cached identity is out of date. */
  async function checked<T extends { outcome: string }>(
    { tokenHash }: Identity,
    work: Promise<T>,
  ): Promise<T> {
    const answer = await work
    if (answer.outcome === 'revoked' || answer.outcome === 'paused') known.forget(tokenHash)
    return answer
  }

  return {
    identify: (tokenHash: string) => known.find(tokenHash) ?? lookUp(tokenHash),
    checked,
    /** A verb whose refusals are noticed. */
    noting:
      <Args extends readonly unknown[], T extends { outcome: string }>(
        verb: (identity: Identity, ...args: Args) => Promise<T>,
      ) =>
      (identity: Identity, ...args: Args): Promise<T> =>
        checked(identity, verb(identity, ...args)),
    /** For verbs that change what the agent's tokens may do. */
    async forgetting<T extends { outcome: string }>(
      identity: Identity,
      work: Promise<T>,
    ): Promise<T> {
      const answer = await checked(identity, work)
      known.forgetAgent(identity.agentId)
      return answer
    },
  }
}
