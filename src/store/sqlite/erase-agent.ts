/**
 * An agent that is erased is gone with one short write. Its log, by then nobody's, goes after it in
 * slices with others' writes between them, before the erasure answers.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../port/home.ts'
import { prepare } from './engine/connection.ts'
import type { Tally } from './engine/totals.ts'
import type { Writer } from './engine/writer.ts'
import type { Refuse } from './identities.ts'
import { prepareHomes } from './keeping/homes.ts'
import { prepareFile } from './keeping/log.ts'

/** Rows that are given up together: more would keep others waiting. */
const AT_ONCE = 128

/** In the order in which they refer to each other. */
const ERASED = [
  'INSERT INTO erased_agents VALUES (?)',
  'DELETE FROM memories WHERE agent_id = ?',
  'DELETE FROM staged_imports WHERE agent_id = ?',
  'DELETE FROM homes WHERE agent_id = ?',
  'DELETE FROM daily_writes WHERE agent_id = ?',
  'DELETE FROM daily_calls WHERE agent_id = ?',
  'DELETE FROM operator_replacements WHERE agent_id = ?',
  'DELETE FROM credentials WHERE agent_id = ?',
  // Births an hour are counted from the agents: to be born and erased in turn must not be free.
  'INSERT INTO erased_births SELECT born_from, created_at FROM births WHERE agent_id = ?',
  'DELETE FROM births WHERE agent_id = ?',
  'DELETE FROM agents WHERE agent_id = ?',
] as const

export function prepareEraseAgent(db: DatabaseSync, refuse: Refuse, tally: Tally) {
  const homes = prepareHomes(db)
  const file = prepareFile(db)
  const steps = ERASED.map((sql) => prepare(db, sql))
  return (identity: Identity) => {
    if (refuse(identity)) return { outcome: 'revoked' } as const
    const { memories } = file(identity.agentId, homes.read(identity.agentId))
    for (const step of steps) step.run(identity.agentId)
    tally.erased(memories)
    return { outcome: 'erased' } as const
  }
}

/** Erases some of what was an agent's log; false once nothing of it is left. */
export function prepareEraseLog(db: DatabaseSync) {
  const first = `FROM log_index WHERE agent_id = ?1 ORDER BY id, n LIMIT ${AT_ONCE}`
  const remove = prepare(db, `DELETE FROM log WHERE n IN (SELECT n ${first})`)
  const unfile = prepare(
    db,
    `DELETE FROM log_index WHERE agent_id = ?1 AND (id, n) IN (SELECT id, n ${first})`,
  )
  const forget = prepare(db, 'DELETE FROM erased_agents WHERE agent_id = ?')
  return (agentId: string): boolean => {
    remove.run(agentId)
    if (unfile.run(agentId).changes > 0) return true
    forget.run(agentId)
    return false
  }
}

/** What a process has left that ended meanwhile, before anybody is served. */
export function eraseLogs(db: DatabaseSync): void {
  const eraseLog = prepareEraseLog(db)
  const marked = prepare<{ agent_id: string }>(db, 'SELECT agent_id FROM erased_agents').all()
  for (const { agent_id: agentId } of marked) while (eraseLog(agentId));
}

/** `gone`: called once its tokens are void. */
export const eraseAgentVerb =
  ({ submit }: Pick<Writer, 'submit'>, gone: () => void) =>
  async (identity: Identity) => {
    const answer = await submit('eraseAgent', identity).finally(gone)
    if (answer.outcome === 'erased') while (await submit('eraseLog', identity.agentId));
    return answer
  }
