/**
 * What operators change of an agent as a whole. Each begins by holding the operator's credential, so
 * that they come one after the other; then come other credentials and the home, in the order in
 * which writes hold them, so that none waits for one that waits for it.
 */
import { authorOf } from '../answers.ts'
import type {
  AgentStatus,
  Author,
  Identity,
  ProfileAnswer,
  ProfileChange,
  Refused,
} from '../port/home.ts'
import type { EventType } from '../port/keeping/events.ts'
import { type AgentRow, profileAnswer } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { type AdmittedRow, refusedBy } from './identities.ts'
import { logFrom } from './keeping/log.ts'
import { pruneEvents } from './keeping/prune.ts'

const lockCredential = statement<AdmittedRow>(
  'lock_credential',
  `SELECT kind, status AS credential_status FROM credentials
   WHERE agent_id = $1 AND token_hash = $2 FOR UPDATE`,
)

/** Why the identity may not change anything; if it may, nobody else does until the commit. */
export async function takeControl(
  ask: Ask,
  { agentId, tokenHash }: Identity,
): Promise<Refused | undefined> {
  const [row] = await ask(lockCredential, agentId, tokenHash)
  return refusedBy(row)
}

const addEvent = statement<{ id: number }>(
  'add_event',
  `WITH numbered AS (
     UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1
     RETURNING agent_id, last_event
   )
   ${logFrom('numbered', { type: '$2', author: '$3', now: '$4', key: '$5' })} RETURNING n AS id`,
)

/** Logs what changed no memory, in the transaction that changed what it did. */
export const happenings =
  (most: number) =>
  async (
    ask: Ask,
    { agentId, by }: { readonly agentId: string; readonly by: Author },
    type: EventType,
    now: number,
    key: string | null = null,
  ): Promise<void> => {
    const [row] = await ask(addEvent, agentId, type, JSON.stringify(by), now, key)
    if (row) await pruneEvents(ask, agentId, { from: row.id - 1, to: row.id }, most)
  }

export type Happen = ReturnType<typeof happenings>

export const doneBy = (identity: Identity) => ({
  agentId: identity.agentId,
  by: authorOf(identity),
})

const selectAgent = statement<AgentRow>(
  'agent_to_change',
  `SELECT ${AGENT_COLUMNS} FROM agents WHERE agent_id = $1`,
)

const markTokens = statement(
  'mark_tokens',
  `UPDATE credentials SET status = $2 WHERE agent_id = $1 AND kind = 'agent'`,
)

const changeStatus = statement<AgentRow>(
  'change_status',
  `UPDATE agents SET status = $2, updated_at = greatest(updated_at, $3)
   WHERE agent_id = $1 RETURNING ${AGENT_COLUMNS}`,
)

const changeProfile = statement<AgentRow>(
  'change_profile',
  `UPDATE agents SET name = $2, purpose = $3, symbol = $4, updated_at = greatest(updated_at, $5)
   WHERE agent_id = $1 AND (name, purpose, symbol) <> ($2, $3, $4) RETURNING ${AGENT_COLUMNS}`,
)

const setStatus =
  (happen: Happen, identity: Identity, next: AgentStatus, now: number) =>
  async (ask: Ask): Promise<ProfileAnswer> => {
    if (await takeControl(ask, identity)) return { outcome: 'revoked' }
    const [before] = await ask(selectAgent, identity.agentId)
    await ask(markTokens, identity.agentId, next)
    const [row] = await ask(changeStatus, identity.agentId, next, now)
    const type = next === 'paused' ? 'pause' : 'resume'
    if (before?.status !== next) await happen(ask, doneBy(identity), type, now)
    return profileAnswer(row)
  }

const setProfile =
  (happen: Happen, identity: Identity, sent: ProfileChange, now: number) =>
  async (ask: Ask): Promise<ProfileAnswer> => {
    if (await takeControl(ask, identity)) return { outcome: 'revoked' }
    const [before] = await ask(selectAgent, identity.agentId)
    if (!before) return { outcome: 'revoked' }
    const { name = before.name, purpose = before.purpose, symbol = before.symbol } = sent
    const [row] = await ask(changeProfile, identity.agentId, name, purpose, symbol, now)
    if (row) await happen(ask, doneBy(identity), 'profile', now)
    return profileAnswer(row ?? before)
  }

/** `most` events are kept. */
export function controlVerbs({ transact }: Connections, committed: () => void, most: number) {
  const happen = happenings(most)
  async function change(work: (ask: Ask) => Promise<ProfileAnswer>): Promise<ProfileAnswer> {
    const answer = await transact(work)
    if (answer.outcome === 'profile') committed()
    return answer
  }
  return {
    setStatus: (...[identity, status, now]: [Identity, AgentStatus, number]) =>
      change(setStatus(happen, identity, status, now)),
    changeProfile: (...[identity, sent, now]: [Identity, ProfileChange, number]) =>
      change(setProfile(happen, identity, sent, now)),
  }
}
