/**
 * Erasing an agent is one short transaction. Its memories and log, which belong to no agent then,
 * are deleted in slices before the response.
 */
import type { Identity } from '../port/identity.ts'
import { agentErasure } from '../verbs/agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { run } from './engine/run.ts'
import type { enterTokens } from './sharded.ts'

/** Rows per slice; more would delay the WAL of other commits. */
const AT_ONCE = 128

/**
 * Rows after $2. Deleted rows stay in the index until it is vacuumed, so starting from the
 * beginning would take longer with every slice. The array makes the planner use the index.
 */
const eraseSome = (table: string, column: string) =>
  statement<{ at: string | number }>(
    `DELETE FROM ${table} WHERE agent_id = $1 AND ${column} = ANY(ARRAY(
       SELECT ${column} FROM ${table} WHERE agent_id = $1 AND ${column} > $2
       ORDER BY ${column} LIMIT ${AT_ONCE}
     )) RETURNING ${column} AS at`,
  )

/** Each with a value below all of its rows. */
const SLICES = [
  { erase: eraseSome('memories', 'key'), before: '' },
  { erase: eraseSome('vectors', 'key'), before: '' },
  { erase: eraseSome('keyed_appends', 'event'), before: 0 },
  { erase: eraseSome('log', 'n'), before: Number.MIN_SAFE_INTEGER },
] as const

/** Tables with texts of the agent: its name, keys, prefixes and memories. */
const VACUUM = 'VACUUM agents, credentials, oauth_records, memories, vectors, keyed_appends, log'

const forget = statement('DELETE FROM erased_agents WHERE agent_id = $1')

const marked = statement<{ agent_id: string }>('SELECT agent_id FROM erased_agents')

type Place = string | number

const furthest = (places: readonly Place[]): Place | undefined =>
  places.toSorted((a, b) => (a < b ? -1 : 1)).at(-1)

async function eraseRest({ write }: Connections, agentId: string, committed: () => void) {
  for (const { erase, before } of SLICES) {
    let after: Place | undefined = before
    while (after !== undefined) {
      const erased: readonly { readonly at: Place }[] = await write(erase, agentId, after)
      after = furthest(erased.map(({ at }) => at))
      if (after !== undefined) committed()
    }
  }
  await write(forget, agentId)
  committed()
}

/** Finishes erasures of a node that has ended; other nodes may do the same. */
export async function eraseLeft(connections: Connections, committed: () => void): Promise<void> {
  for (const { agent_id: agentId } of await connections.read(marked)) {
    await eraseRest(connections, agentId, committed)
  }
}

/** `gone`: called when its tokens are invalid. */
export const eraseAgentVerb =
  (
    connections: Connections,
    committed: () => void,
    forgetTokens: typeof enterTokens,
    gone: (agentId: string) => void,
  ) =>
  async (identity: Identity) => {
    const { transact, alone } = connections
    const answer = await transact(async (ask) => {
      const erased = await run(ask, agentErasure.eraseAgent(identity))
      await forgetTokens(ask, identity)
      return erased
    }).finally(() => gone(identity.agentId))
    if (answer.outcome === 'revoked') return answer
    committed()
    await eraseRest(connections, identity.agentId, committed)
    // Without the right or the time to vacuum, autovacuum does it later.
    await alone(VACUUM).catch(() => {})
    return answer
  }
