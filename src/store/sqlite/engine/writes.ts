/** The writer's verbs. Each runs in a transaction that its caller commits. */
import type { DatabaseSync } from 'node:sqlite'
import { writeAnswerOf } from '../../answers.ts'
import { logEvents, memoryWrites } from '../../memory-writes.ts'
import { type CountedCalls, DAYS_KEPT } from '../../port/activity.ts'
import type { BirthAnswer, HomeStore } from '../../port/home.ts'
import type { RemoveAnswer } from '../../port/host.ts'
import type { Identity } from '../../port/identity.ts'
import type {
  ChangesAnswer,
  Memory,
  MemoryStore,
  MemoryWrite,
  WriteAnswer,
} from '../../port/memories.ts'
import type { StoreBounds } from '../../port/store.ts'
import { mapVerbs } from '../../verbs/verb.ts'
import { loggedWrites, otherWrites, tokenWrites } from '../../verbs/verbs.ts'
import { prepareGatewayWrites } from '../entries.ts'
import { prepareEraseAgent, prepareEraseRest } from '../erase-agent.ts'
import { prepareIdentify, rememberIdentities } from '../identities.ts'
import { prepareHomeLog, preparePruneHome } from '../memories/home-log.ts'
import { prepareSweep } from '../memories/sweep.ts'
import { prepare, type StorageFault } from './connection.ts'
import { prepareVerbs } from './run.ts'
import { prepareTotals, type Tally } from './totals.ts'

/** Daily counters of each agent. */
function prepareCountCalls(db: DatabaseSync) {
  const count = prepare(
    db,
    `INSERT INTO daily_calls (agent_id, day, reads, conflicts, refusals, seen_at)
     SELECT agent_id, ?2, ?3, ?4, ?5, ?6 FROM agents WHERE agent_id = ?1
     ON CONFLICT (agent_id, day) DO UPDATE SET reads = reads + excluded.reads,
       conflicts = conflicts + excluded.conflicts, refusals = refusals + excluded.refusals,
       seen_at = max(seen_at, excluded.seen_at)`,
  )
  const forget = prepare(
    db,
    `DELETE FROM daily_calls WHERE agent_id = ? AND day <= ? - ${DAYS_KEPT}`,
  )
  return (calls: readonly CountedCalls[]): void => {
    for (const { agentId, day, reads, conflicts, refusals, seenAt } of calls) {
      count.run(agentId, day, reads, conflicts, refusals, seenAt)
      forget.run(agentId, day)
    }
  }
}

/** A trigger updates labels, words and counters. */
function prepareRemoveEntry(db: DatabaseSync) {
  const remove = prepare<{ id: string }>(db, 'DELETE FROM entries WHERE id = ? RETURNING id')
  return (id: string): RemoveAnswer => ({ outcome: remove.get(id) ? 'removed' : 'missing' })
}

/** For verbs that change what a token may do. */
const forgetting = <V extends Parameters<typeof mapVerbs>[0]>(verbs: V, forget: () => void): V =>
  mapVerbs(verbs, (verb, args) => {
    const answer = verb(...args)
    forget()
    return answer
  }) as V

/** A saved memory without the text and metadata that its writer sent. */
type Receipt = Pick<Memory, 'id' | 'version' | 'createdAt' | 'updatedAt'>

type WriteResult =
  | { readonly outcome: 'saved'; readonly receipt: Receipt }
  | Exclude<WriteAnswer, { outcome: 'saved' }>

const writeOne =
  (change: (...changes: Parameters<MemoryStore['changeMemories']>) => ChangesAnswer) =>
  (identity: Identity, write: MemoryWrite, now: number): WriteResult => {
    const answer = writeAnswerOf(change(identity, [{ ...write, verb: 'write' }], now))
    if (answer.outcome !== 'saved') return answer
    const { id, version, createdAt, updatedAt } = answer.memory
    return { outcome: 'saved', receipt: { id, version, createdAt, updatedAt } }
  }

type Bear = (...birth: Parameters<HomeStore['bear']>) => BirthAnswer

const counted =
  (bear: Bear, tally: Tally): Bear =>
  (...birth) => {
    const answer = bear(...birth)
    if (answer.outcome === 'born') tally.born()
    return answer
  }

export function prepareWrites(db: DatabaseSync, { feed, home }: StoreBounds) {
  const { remember, forget } = rememberIdentities()
  const { refuse } = prepareIdentify(db, remember)
  const { leaveEntry, fileArrived, forgetArrived } = prepareGatewayWrites(db, feed)
  const totals = prepareTotals(db)
  const sweep = prepareSweep(db, home.versions)
  const homeLog = prepareHomeLog(db, refuse, totals.tally, home, sweep)
  const logEvent = logEvents(homeLog)
  const others = prepareVerbs(db, otherWrites(home.bytes))
  const memories = prepareVerbs(db, memoryWrites(homeLog, home))
  const verbs = {
    ...forgetting(prepareVerbs(db, tokenWrites(logEvent)), forget),
    ...others,
    bear: counted(others.bear, totals.tally),
    ...forgetting({ eraseAgent: prepareEraseAgent(db, totals.tally) }, forget),
    eraseRest: prepareEraseRest(db),
    removeEntry: prepareRemoveEntry(db),
    countCalls: prepareCountCalls(db),
    ...memories,
    writeMemory: writeOne(memories.changeMemories),
    pruneHome: preparePruneHome(db, home),
    ...prepareVerbs(db, loggedWrites(logEvent)),
    leaveEntry,
    /** Changes nothing: it gives the writer a turn for a checkpoint. */
    rest(): void {},
  }
  return {
    verbs,
    /** Called once per transaction, before its commit. */
    finish: fileArrived,
    committed: totals.committed,
    /** Called after a rollback: caches may be wrong. */
    undone(fault: StorageFault | undefined): void {
      forget()
      forgetArrived()
      totals.undone(fault)
    },
    totals,
  }
}

export type Writes = ReturnType<typeof prepareWrites>
