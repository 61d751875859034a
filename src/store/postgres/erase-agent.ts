/**
 * An agent that is erased is gone with one short transaction. Its memories and its log, by then
 * nobody's, go after it in slices, before the erasure answers.
 */
import type { Identity } from '../port/home.ts'
import { agentErasure } from '../verbs/agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { run } from './engine/run.ts'

/** Rows that are given up together: more would keep the log of others' commits waiting. */
const AT_ONCE = 128

/**
 * The rows after $2. What was deleted before it stays in the index until it is vacuumed: to begin
 * there each time would take the longer, the more was. A list finds its rows by the index.
 */
const eraseSome = (table: string, column: string) =>
  statement<{ at: string | number }>(
    `erase_${table}`,
    `DELETE FROM ${table} WHERE agent_id = $1 AND ${column} = ANY(ARRAY(
       SELECT ${column} FROM ${table} WHERE agent_id = $1 AND ${column} > $2
       ORDER BY ${column} LIMIT ${AT_ONCE}
     )) RETURNING ${column} AS at`,
  )

/** Each with what lies before all of its rows. */
const SLICES = [
  { erase: eraseSome('memories', 'key'), before: '' },
  { erase: eraseSome('log', 'n'), before: Number.MIN_SAFE_INTEGER },
] as const

/** Tables that had a word of the agent's: its name, its keys and their prefixes, what it kept. */
const VACUUM = 'VACUUM agents, credentials, memories, log'

const forget = statement('forget_erased', 'DELETE FROM erased_agents WHERE agent_id = $1')

const marked = statement<{ agent_id: string }>(
  'erased_agents',
  'SELECT agent_id FROM erased_agents',
)

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

/** What a node has left that ended meanwhile; another may be at it too. */
export async function eraseLeft(connections: Connections, committed: () => void): Promise<void> {
  for (const { agent_id: agentId } of await connections.read(marked)) {
    await eraseRest(connections, agentId, committed)
  }
}

/** `gone`: called once its tokens are void. */
export const eraseAgentVerb =
  (connections: Connections, committed: () => void) =>
  async (identity: Identity, gone: () => void) => {
    const { transact, alone } = connections
    const answer = await transact((ask) => run(ask, agentErasure.eraseAgent(identity))).finally(
      gone,
    )
    if (answer.outcome === 'revoked') return answer
    committed()
    await eraseRest(connections, identity.agentId, committed)
    // Without the right to it, or the time, the server does it when it comes round.
    await alone(VACUUM).catch(() => {})
    return answer
  }
