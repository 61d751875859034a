/**
 * Where an unfinished import is staged: log numbers below all others of its home. If nothing
 * arrives for a while, any node may remove it.
 */
import type { Identity, Refused } from '../../port/home.ts'
import type { ImportOrder } from '../../port/transfer.ts'
import { BLOCK } from '../../rows.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { ADMITTED, MAY } from '../identities.ts'
import { type HomeRow, holdHome } from '../keeping/homes.ts'
import { beneath, isAmong, lowestPlace } from '../keeping/log.ts'

const NOW = '(extract(epoch FROM now()) * 1000)::BIGINT'

/** Its node reads from its own disk, so one that is silent for so long has ended. */
const SILENCE_MS = 60_000

/** Rows per slice; more would delay others. */
const AT_ONCE = 128

export interface Ahead {
  readonly agentId: string
  /** The lowest number of its rows. */
  readonly place: number
  readonly id: string
}

const mark = statement<{ id: string }>(`
  INSERT INTO staged_imports (agent_id, place, id, touched_at)
  VALUES ($1, $2, gen_random_uuid()::TEXT, ${NOW}) RETURNING id`)

/** The credential is locked first, as when an agent is erased. */
const touch = statement<{ place: number }>(`
  WITH ${ADMITTED}
  UPDATE staged_imports SET touched_at = ${NOW}
  WHERE agent_id = $1 AND place = $3 AND id = $4 AND touched_at > 0 AND ${MAY} RETURNING place`)

const unmark = statement<{ place: number }>(`
  DELETE FROM staged_imports
  WHERE agent_id = $1 AND place = $2 AND id = $3 AND touched_at > 0 RETURNING place`)

const GIVEN_UP = 'agent_id = $1 AND place = $2 AND id = $3 AND touched_at = 0'

/** From here on nothing can be added. */
const giveUp = statement<{ place: number }>(`
  UPDATE staged_imports SET touched_at = 0
  WHERE agent_id = $1 AND place = $2 AND id = $3 AND touched_at > 0 RETURNING place`)

/**
 * Starts at $4, because deleted rows stay in the index until it is vacuumed. Another import may
 * reuse the numbers once the record is gone.
 */
const dropSome = statement<{ n: number }>(`
  WITH next AS (
    SELECT n FROM log WHERE agent_id = $1 AND n >= $4::BIGINT AND n < $2::BIGINT + ${BLOCK}
      AND EXISTS (SELECT 1 FROM staged_imports WHERE ${GIVEN_UP})
    ORDER BY n LIMIT ${AT_ONCE}
  )
  DELETE FROM log l WHERE l.agent_id = $1 AND ${isAmong('SELECT n FROM next')} RETURNING l.n`)

const forget = statement<{ place: number }>(
  `DELETE FROM staged_imports WHERE ${GIVEN_UP} RETURNING place`,
)

const silent = statement<{ agent_id: string; place: number; id: string }>(
  `SELECT agent_id, place, id FROM staged_imports WHERE touched_at <= ${NOW} - ${SILENCE_MS}`,
)

export interface Begun {
  readonly outcome: 'begun'
  /** As of now; other writes go on. */
  readonly home: HomeRow
  /** Undefined in a dry run. */
  readonly ahead: Ahead | undefined
}

async function markPlace(ask: Ask, agentId: string): Promise<Ahead> {
  const [lowest] = await ask(lowestPlace, agentId)
  const place = beneath(lowest?.n ?? 0)
  const [marked] = await ask(mark, agentId, place)
  return { agentId, place, id: marked?.id ?? '' }
}

export const beginImport = (
  { transact }: Connections,
  identity: Identity,
  { dryRun }: ImportOrder,
): Promise<Begun | Refused> =>
  transact(async (ask) => {
    const held = await holdHome(ask, identity)
    if (held.outcome !== 'held') return held
    const ahead = dryRun ? undefined : await markPlace(ask, identity.agentId)
    return { outcome: 'begun', home: held.home, ahead }
  })

/** Whether rows may be added in this transaction. */
export async function mayGoOn(ask: Ask, identity: Identity, ahead: Ahead): Promise<boolean> {
  const { place, id } = ahead
  const [touched] = await ask(touch, identity.agentId, identity.tokenHash, place, id)
  return touched !== undefined
}

/** In the transaction that locks the home. False if another node has removed it. */
export async function takeOver(ask: Ask, { agentId, place, id }: Ahead): Promise<boolean> {
  const [taken] = await ask(unmark, agentId, place, id)
  return taken !== undefined
}

/** Removes all staged rows, unless they were taken over. */
export async function giveUpAhead(
  { write }: Connections,
  { agentId, place, id }: Ahead,
  committed: () => void,
): Promise<void> {
  const whose = [agentId, place, id] as const
  if ((await write(giveUp, ...whose)).length > 0) committed()
  for (let from = place; ; ) {
    const dropped = await write(dropSome, ...whose, from)
    if (dropped.length === 0) break
    from = Math.max(...dropped.map(({ n }) => n)) + 1
    committed()
  }
  if ((await write(forget, ...whose)).length > 0) committed()
}

/** Removes the rows of imports that ended without finishing. */
export async function sweepAhead(connections: Connections, committed: () => void): Promise<void> {
  for (const { agent_id: agentId, ...ahead } of await connections.read(silent)) {
    await giveUpAhead(connections, { agentId, ...ahead }, committed)
  }
}
