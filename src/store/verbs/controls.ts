/**
 * Changes of an agent by its operator. Each verb first locks the operator's credential, so that
 * they run one after the other; then other credentials and the home, in the same order as writes,
 * so that they cannot deadlock.
 */
import { authorOf, refusalOf } from '../answers.ts'
import type { EventType } from '../port/events.ts'
import type { ProfileAnswer, ProfileChange } from '../port/home.ts'
import type { AgentStatus, Author, Identity, Refused, TokenKind } from '../port/identity.ts'
import { type AgentRow, profileAnswer } from '../rows.ts'
import { ask, statement, type Verb } from './verb.ts'

/** Logs an event that changed no memory, in the transaction of its cause. */
export type LogEvent = (
  home: { readonly agentId: string; readonly by: Author },
  type: EventType,
  now: number,
  /** A memory's, or the named key's as `namedKeyText`. */
  key?: string,
) => Verb<void>

export const doneBy = (identity: Identity) => ({
  agentId: identity.agentId,
  by: authorOf(identity),
})

interface AdmittedRow {
  kind: TokenKind
  status: AgentStatus
}

const CREDENTIAL = 'SELECT kind, status FROM credentials WHERE agent_id = $1 AND token_hash = $2'

const findCredential = statement<AdmittedRow>(CREDENTIAL)

const lockCredential = statement<AdmittedRow>(`${CREDENTIAL} FOR UPDATE`)

/** Why the identity may not act now; undefined if it may. */
export function* refuse({ agentId, tokenHash }: Identity): Verb<Refused | undefined> {
  const [row] = yield* ask(findCredential, agentId, tokenHash)
  return refusalOf(row?.kind, row?.status)
}

/** The same, and locks the agent against other changes until the commit. */
export function* takeControl({ agentId, tokenHash }: Identity): Verb<Refused | undefined> {
  const [row] = yield* ask(lockCredential, agentId, tokenHash)
  return refusalOf(row?.kind, row?.status)
}

/** `agent`: whose home is counted, a parameter where it is one agent's. */
export const agentColumns = (agent: string): string => `
  agents.agent_id AS id, name, purpose, symbol, status, created_at, updated_at,
  (SELECT memories FROM homes h WHERE h.agent_id = ${agent}) AS memory_count,
  (SELECT bytes + vectors FROM homes h WHERE h.agent_id = ${agent}) AS bytes`

export const AGENT_COLUMNS = agentColumns('$1')

/** The time of a change never decreases. */
const LATER = (parameter: string): string =>
  `CASE WHEN updated_at < ${parameter} THEN ${parameter} ELSE updated_at END`

const findAgent = statement<AgentRow>(`SELECT ${AGENT_COLUMNS} FROM agents WHERE agent_id = $1`)

const markTokens = statement(
  `UPDATE credentials SET status = $2 WHERE agent_id = $1 AND kind = 'agent'`,
)

const changeStatus = statement<AgentRow>(`
  UPDATE agents SET status = $2, updated_at = ${LATER('$3')} WHERE agent_id = $1
  RETURNING ${AGENT_COLUMNS}`)

const changeProfile = statement<AgentRow>(`
  UPDATE agents SET name = $2, purpose = $3, symbol = $4, updated_at = ${LATER('$5')}
  WHERE agent_id = $1 AND (name, purpose, symbol) <> ($2, $3, $4) RETURNING ${AGENT_COLUMNS}`)

/** Events that clients cause beside their changes. */
export const eventWrites = (logEvent: LogEvent) => ({
  *recordEvent(identity: Identity, type: EventType, now: number): Verb<boolean> {
    const refused = yield* takeControl(identity)
    if (refused?.outcome === 'revoked') return false
    yield* logEvent(doneBy(identity), type, now)
    return true
  },
})

export const controlWrites = (logEvent: LogEvent) => ({
  *setStatus(identity: Identity, status: AgentStatus, now: number): Verb<ProfileAnswer> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    const [before] = yield* ask(findAgent, identity.agentId)
    yield* ask(markTokens, identity.agentId, status)
    const [row] = yield* ask(changeStatus, identity.agentId, status, now)
    const type = status === 'paused' ? 'pause' : 'resume'
    if (before?.status !== status) yield* logEvent(doneBy(identity), type, now)
    return profileAnswer(row)
  },

  *changeProfile(identity: Identity, sent: ProfileChange, now: number): Verb<ProfileAnswer> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    const [before] = yield* ask(findAgent, identity.agentId)
    if (!before) return { outcome: 'revoked' }
    const { name = before.name, purpose = before.purpose, symbol = before.symbol } = sent
    const [row] = yield* ask(changeProfile, identity.agentId, name, purpose, symbol, now)
    if (row) yield* logEvent(doneBy(identity), 'profile', now)
    return profileAnswer(row ?? before)
  },
})
