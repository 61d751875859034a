/** Imports and rollbacks that have begun and not ended, and which node goes on with each. */
import type { Timers } from '../../../timers.ts'
import { BY_HOST } from '../../answers.ts'
import type { Begun, Unfinished, Wanted } from '../../batches.ts'
import { authorIn } from '../../rows.ts'
import type { Settle } from '../../settle.ts'
import { ask, statement, type Verb } from '../../verbs/verb.ts'
import type { Connections } from '../engine/connections.ts'

const NOW = '(extract(epoch FROM now()) * 1000)::BIGINT'

/** How long a node may take for a batch before another goes on: it reads from its own disk. */
const HOLD_MS = 15_000

const HELD = `${NOW} + ${HOLD_MS}`

const select = statement<Begun>(
  'SELECT event, holder FROM unfinished WHERE agent_id = $1 FOR UPDATE',
)

const insert = statement<{ holder: string }>(`
  INSERT INTO unfinished (agent_id, event, rollback, holder, held_until)
  VALUES ($1, $2, $3, gen_random_uuid()::TEXT, ${HELD}) RETURNING holder`)

const hold = statement(`UPDATE unfinished SET held_until = ${HELD} WHERE agent_id = $1`)

const stay = statement(
  `UPDATE unfinished SET held_until = ${HELD} WHERE agent_id = $1 AND holder = $2`,
)

const remove = statement('DELETE FROM unfinished WHERE agent_id = $1')

interface HeldRow {
  agent_id: string
  holder: string
  held_until: number
  now: number
}

const listHeld = statement<HeldRow>(
  `SELECT agent_id, holder, held_until, ${NOW} AS now FROM unfinished`,
)

const takeLeft = statement<Begun & { rollback: string | null; now: number }>(`
  UPDATE unfinished SET holder = gen_random_uuid()::TEXT, held_until = ${HELD}
  WHERE agent_id = $1 AND (held_until <= ${NOW} OR holder = $2)
  RETURNING event, holder, rollback, ${NOW} AS now`)

const authorAt = statement<{ author: string | null }>(
  'SELECT author FROM log WHERE agent_id = $1 AND n = $2',
)

/** Locked until the end of the transaction, against a node that takes it over. */
export function* findUnfinished(agentId: string): Verb<Begun | undefined> {
  return (yield* ask(select, agentId))[0]
}

/** Returns its holder. */
export function* beginUnfinished(
  agentId: string,
  event: number,
  rollback: Wanted | undefined,
): Verb<string> {
  const [row] = yield* ask(insert, agentId, event, rollback && JSON.stringify(rollback))
  return row?.holder ?? ''
}

export const holdUnfinished = (agentId: string): Verb<unknown> => ask(hold, agentId)

/** Unless another node has taken it over. */
export const goOnWith = (agentId: string, { holder }: Begun): Verb<unknown> =>
  ask(stay, agentId, holder)

export const endUnfinished = (agentId: string): Verb<unknown> => ask(remove, agentId)

/** Homes with something unfinished that no node goes on with. */
export async function listUnfinished({ read }: Connections): Promise<readonly string[]> {
  const rows = await read(listHeld)
  return rows
    .filter(({ held_until: until, now }) => until <= now)
    .map(({ agent_id: agentId }) => agentId)
}

export async function takeOver(
  { read, write }: Connections,
  agentId: string,
  mine: Begun | undefined,
): Promise<Unfinished | undefined> {
  const [left] = await write(takeLeft, agentId, mine?.holder ?? null)
  if (!left) return undefined
  const { event, holder, now } = left
  const [begun] = await read(authorAt, agentId, event)
  const by = authorIn(begun?.author ?? null) ?? BY_HOST
  const rollback = left.rollback === null ? undefined : (JSON.parse(left.rollback) as Wanted)
  return { agentId, event, holder, by, rollback, now }
}

/** How often it is looked whether a node goes on. */
const LOOK_MS = 1_000

/** The same node holds it, and has said so again. */
const goesOnWith = (was: HeldRow, now: HeldRow): boolean =>
  now.holder === was.holder && now.held_until > was.held_until

/**
 * Before a node serves: settles what it may have left itself, or waits for the node that does. It
 * cannot tell that from what another goes on with until that one says so again, or has not. Returns in
 * how many homes something is left.
 */
export async function settleLeft(
  { read }: Connections,
  settle: Settle,
  { pause }: Timers,
): Promise<number> {
  let failed = 0
  let left = await read(listHeld)
  // One that cannot be settled must not keep the node from serving the others.
  for (let waited = 0; left.length > failed && waited < 2 * HOLD_MS; waited += LOOK_MS) {
    failed = await settle.all()
    const held = new Map((await read(listHeld)).map((row) => [row.agent_id, row]))
    left = left.filter((was) => {
      const now = held.get(was.agent_id)
      return now && !goesOnWith(was, now)
    })
    if (left.length > 0) await pause(LOOK_MS)
  }
  return left.length
}
