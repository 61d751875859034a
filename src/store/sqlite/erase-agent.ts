/**
 * Erasing an agent is one short write. Its memories and log, which belong to no agent then, are
 * deleted in slices with other writes in between, before the response.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../port/identity.ts'
import { agentErasure } from '../verbs/agents.ts'
import { prepare } from './engine/connection.ts'
import { prepareVerbs } from './engine/run.ts'
import type { Tally } from './engine/totals.ts'
import { prepareHomes } from './memories/homes.ts'
import { prepareIndex } from './memories/log.ts'

/** Rows per slice; more would delay others. */
const AT_ONCE = 128

export function prepareEraseAgent(db: DatabaseSync, tally: Tally) {
  const homes = prepareHomes(db)
  const index = prepareIndex(db)
  const { eraseAgent } = prepareVerbs(db, agentErasure)
  return (identity: Identity) => {
    const home = homes.read(identity.agentId)
    const answer = eraseAgent(identity)
    if (answer.outcome === 'revoked') return answer
    index(identity.agentId, home)
    tally.erased(home.memories)
    return answer
  }
}

/** Deletes a slice; false if nothing is left. */
export function prepareEraseRest(db: DatabaseSync) {
  const slices = [
    ['memories', 'key'],
    ['vectors', 'key'],
    ['keyed_appends', 'event'],
  ].map(([table, id]) =>
    prepare(
      db,
      `DELETE FROM ${table} WHERE agent_id = ?1
       AND ${id} IN (SELECT ${id} FROM ${table} WHERE agent_id = ?1 LIMIT ${AT_ONCE})`,
    ),
  )
  const first = `FROM log_index WHERE agent_id = ?1 ORDER BY id, n LIMIT ${AT_ONCE}`
  const remove = prepare(db, `DELETE FROM log WHERE n IN (SELECT n ${first})`)
  const unfile = prepare(
    db,
    `DELETE FROM log_index WHERE agent_id = ?1 AND (id, n) IN (SELECT id, n ${first})`,
  )
  const forget = prepare(db, 'DELETE FROM erased_agents WHERE agent_id = ?')
  return (agentId: string): boolean => {
    if (slices.some((some) => some.run(agentId).changes > 0)) return true
    remove.run(agentId)
    if (unfile.run(agentId).changes > 0) return true
    forget.run(agentId)
    return false
  }
}

/** Finishes erasures of a process that has ended, before the service starts. */
export function eraseLeft(db: DatabaseSync): void {
  const eraseRest = prepareEraseRest(db)
  const marked = prepare<{ agent_id: string }>(db, 'SELECT agent_id FROM erased_agents').all()
  for (const { agent_id: agentId } of marked) while (eraseRest(agentId));
}
