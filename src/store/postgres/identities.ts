/**
 * Identities, cached briefly so that a warm request asks the database once. The cache is a hint:
 * another node may revoke a token, so every verb checks it again.
 */
import { LRUCache } from 'lru-cache'
import { refusalOf } from '../answers.ts'
import { CREDENTIAL, type CredentialRow, identityOf } from '../credentials.ts'
import type { HomeStore } from '../port/home.ts'
import type { AgentStatus, Identity, Refused, TokenKind } from '../port/identity.ts'
import { mapVerbs } from '../verbs/verb.ts'
import type { Ask } from './engine/session.ts'
import { byToken, findByToken, ownerOf } from './sharded.ts'

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

export function identifyVerb(
  read: Ask,
  known: Identities,
  sharded: boolean,
): HomeStore['identify'] {
  const find = findByToken(read, sharded, identity)

  async function lookUp(tokenHash: string): Promise<Identity | undefined> {
    const row = await find(tokenHash)
    if (!row) return undefined
    const found = identityOf(tokenHash, row)
    known.remember(found)
    return found
  }

  return (tokenHash) => known.find(tokenHash) ?? lookUp(tokenHash)
}

type Verbs = Readonly<Record<string, (...args: never) => Promise<unknown>>>

const isRefused = (answer: unknown): boolean => {
  const { outcome } = (answer ?? {}) as { readonly outcome?: string }
  return outcome === 'revoked' || outcome === 'paused'
}

/** Verbs whose refusals show that what is remembered of a token is out of date. */
export const noticing = <V extends Verbs>(known: Identities, verbs: V): V =>
  mapVerbs(verbs, async (verb, args: readonly [Identity]) => {
    const answer = await verb(...(args as never))
    if (isRefused(answer)) known.forget(args[0].tokenHash)
    return answer
  }) as V

/** Verbs that change what the tokens of an agent may do. */
export const forgetting = <V extends Verbs>(known: Identities, verbs: V): V =>
  mapVerbs(verbs, (verb, args) =>
    verb(...args).finally(() => known.forgetAgent(ownerOf(args[0]))),
  ) as V
