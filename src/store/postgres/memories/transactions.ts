/** Writes of memories on this engine: the verbs of both, each in a transaction. */
import type { BatchStore, HeadsAnswer } from '../../batches.ts'
import type { Home } from '../../home-log.ts'
import { memoryWrites } from '../../memory-writes.ts'
import type { Identity } from '../../port/identity.ts'
import type { MemoryStore } from '../../port/memories.ts'
import type { HomeBounds } from '../../port/store.ts'
import { type Asked, ask, type Verb } from '../../verbs/verb.ts'
import type { allReads } from '../../verbs/verbs.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { run, writeVerbs } from '../engine/run.ts'
import type { Ask } from '../engine/session.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { homeColumns, homeLog } from './home-log.ts'
import { prune } from './prune.ts'
import { readStates } from './states.ts'
import { goOnWith, listUnfinished, takeOver } from './unfinished.ts'

const selectHome = statement<AdmittedRow & Home>(`
  SELECT c.kind, c.status AS credential_status, ${homeColumns('h')}
  FROM credentials c JOIN homes h ON h.agent_id = c.agent_id
  WHERE c.agent_id = $1 AND c.token_hash = $2`)

async function readHeads(
  read: Ask,
  { agentId, tokenHash }: Identity,
  keys: readonly string[],
): Promise<HeadsAnswer> {
  const [home] = await read(selectHome, agentId, tokenHash)
  const refused = refusedBy(home)
  if (!home || refused) return refused ?? { outcome: 'revoked' }
  return { outcome: 'heads', home, heads: await run(read, readStates(agentId, keys)) }
}

interface SizeRow {
  first_event: number
  bytes: number
  deleted: number
  last_event: number
}

const SIZES = `SELECT bytes + history + vectors AS bytes, deleted, first_event, last_event
  FROM homes WHERE agent_id = $1`

const lockSizes = statement<SizeRow>(`${SIZES} FOR UPDATE`)

const readSizes = statement<SizeRow>(SIZES)

/** Prunes a share of what is over the home's limits; whether there may be more. */
function* pruneShare(agentId: string, bounds: HomeBounds): Verb<boolean> {
  // By a statement of its own: one that waits for the lock may have read what was before.
  const [before] = yield* ask(lockSizes, agentId)
  if (!before) return false
  const { bytes, deleted, last_event: to } = before
  yield* prune(agentId, { made: [], bytes, deleted, events: { from: 0, to } }, bounds)
  const [after = before] = yield* ask(readSizes, agentId)
  return after.bytes < bytes || after.deleted < deleted || after.first_event > before.first_event
}

export function batchStore(
  connections: Connections,
  bounds: HomeBounds,
  { eventsBetween, retainedEvents, stateBefore }: Asked<ReturnType<typeof allReads>>,
): BatchStore {
  const { read, transact, write } = connections
  const { writeBatch } = writeVerbs(connections, memoryWrites(homeLog(bounds), bounds))
  return {
    ...{ eventsBetween, retainedEvents, stateBefore, writeBatch },
    readHeads: (identity, keys) => readHeads(read, identity, keys),
    listUnfinished: () => listUnfinished(connections),
    takeOver: (agentId, mine) => takeOver(connections, agentId, mine),
    goOn: (agentId, begun) => run(write, goOnWith(agentId, begun)).then(() => {}),
    async prune(agentId) {
      while (await transact((each) => run(each, pruneShare(agentId, bounds))));
    },
  }
}

/** Erased rows are deleted and vacuumed from the table's files before the response. */
export function changeVerbs(
  connections: Connections,
  bounds: HomeBounds,
): Pick<MemoryStore, 'changeMemories' | 'appendOnce' | 'eraseMemory'> {
  const verbs = writeVerbs(connections, memoryWrites(homeLog(bounds), bounds))
  return {
    changeMemories: verbs.changeMemories,
    appendOnce: verbs.appendOnce,
    async eraseMemory(...erasure) {
      const answer = await verbs.eraseMemory(...erasure)
      // Without the right or the time to vacuum, autovacuum does it later.
      if (answer.outcome === 'erased')
        await connections.alone('VACUUM log, vectors').catch(() => {})
      return answer
    },
  }
}
