/** The PostgreSQL engine: any number of nodes on one database. */
import { createKeyedQueue } from '../../keyed-queue.ts'
import type { Timers } from '../../timers.ts'
import { comparing } from '../comparing.ts'
import { importVerb } from '../import.ts'
import { logEvents } from '../memory-writes.ts'
import type { EventStore } from '../port/events.ts'
import type { HomeStore } from '../port/home.ts'
import type { HostStore } from '../port/host.ts'
import type { Replacement } from '../port/keys.ts'
import type { HomeBounds, Progress, Store, StoreOptions, Totals } from '../port/store.ts'
import { rollBackVerb } from '../rollback.ts'
import { type Searcher, startSearcher } from '../search/searcher.ts'
import { settling, unsettled } from '../settle.ts'
import { agentWrites } from '../verbs/agents.ts'
import { erasing } from '../verbs/erasing.ts'
import { REPLACEMENT_BY_TOKEN } from '../verbs/keys.ts'
import { allReads, loggedWrites, otherWrites, tokenWrites } from '../verbs/verbs.ts'
import { countCallsVerb } from './count-calls.ts'
import { explaining } from './engine/checks.ts'
import { type Connections, openConnections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import { type Hosts, hostsOf, locationOf } from './engine/hosts.ts'
import { permitVerbs } from './engine/permits.ts'
import { readVerbs, writeVerbs } from './engine/run.ts'
import { gatewayVerbs } from './entries.ts'
import { eraseAgentVerb, eraseLeft } from './erase-agent.ts'
import { forgetting, identifyVerb, noticing, rememberIdentities } from './identities.ts'
import { eventReader, newsVerbs } from './memories/event-reads.ts'
import { homeLog } from './memories/home-log.ts'
import { memoryReads } from './memories/reads.ts'
import { batchStore, changeVerbs } from './memories/transactions.ts'
import { settleLeft } from './memories/unfinished.ts'
import { logStatements } from './memories/versions.ts'
import { lockedWriteVerb, writeVerb } from './memories/write-memory.ts'
import { prepareServer, watchSchema } from './schema/migrations.ts'
import { byToken, enterTokens, findByToken, isSharded } from './sharded.ts'
import { exportVerb } from './transfer/export.ts'

const removeEntry = statement<{ id: string }>(`
  WITH removed AS (
    DELETE FROM entries WHERE id = $1 RETURNING id, feed, room, bytes
  ),
  unlabelled AS (
    DELETE FROM entry_labels l USING removed r WHERE l.feed = r.feed AND l.id = r.id
  ),
  counted AS (
    UPDATE room_counts c SET entries = c.entries - 1, bytes = c.bytes - r.bytes
    FROM removed r WHERE c.feed = r.feed AND c.room = r.room
  )
  SELECT id FROM removed`)

/** Removal of gateway entries by the host's owner. */
const removeEntryVerb =
  ({ write }: Connections, committed: () => void): HostStore['removeEntry'] =>
  async (id) => {
    const [removed] = await write(removeEntry, id)
    if (removed) committed()
    return { outcome: removed ? 'removed' : 'missing' }
  }

/** Connections per node, unless DATABASE_URL has `?pool_max=…`. */
const CONNECTIONS = 10
/** An export holds its connection as long as its client reads, so it has a pool of its own. */
const EXPORT_CONNECTIONS = 4
/** Imports and erasures run in slices, which must not wait for exports. */
const SLICE_CONNECTIONS = 4
/** The gateway has its own pool, so that it cannot delay the home. */
const GATEWAY_CONNECTIONS = 4

function openPools(hosts: Hosts, timers: Timers) {
  let commits = 0
  const committed = () => {
    commits++
  }
  const most = Number(hosts.option('pool_max') ?? CONNECTIONS)
  const pools = {
    hot: openConnections(hosts, most, 'agent-home', { timers, committed }),
    exports: openConnections(hosts, EXPORT_CONNECTIONS, 'agent-home export', { timers }),
    slices: openConnections(hosts, SLICE_CONNECTIONS, 'agent-home slices', { timers, committed }),
    gateway: openConnections(hosts, GATEWAY_CONNECTIONS, 'agent-home gateway', { timers }),
  }
  return { pools, committed, commits: () => commits }
}

/** Throws StoreRefused: unreachable, unsafe, too old, or written by a newer program. */
export async function openPostgres(
  databaseUrl: string,
  options: StoreOptions,
  progress: Progress,
): Promise<Store> {
  const { timers } = options
  const location = locationOf(databaseUrl)
  const hosts = hostsOf(databaseUrl)
  const { warnings, isNew } = await explaining(databaseUrl, () =>
    prepareServer(hosts, timers, progress),
  )
  const opened = openPools(hosts, timers)
  const { hot, gateway } = opened.pools
  const sharded = await isSharded(hot.read)
  const schema = watchSchema(hot.read, timers)
  const searcher = searcherOf(databaseUrl, options, sharded)
  const { left, stop, verbs } = await homeVerbs({ ...opened, options, searcher, sharded })
  return {
    location,
    isNew,
    warnings: left ? [...warnings, left] : warnings,
    ...verbs,
    removeEntry: removeEntryVerb(hot, opened.committed),
    ...gatewayVerbs(gateway, opened.committed, options.feed),
    leasePermits: permitVerbs(hot.write),
    async status() {
      return { ...(await totalsOf(hot)), commits: opened.commits(), freeBytes: undefined }
    },
    whenRefused: schema.whenRefused,
    prepareSearch: searcher.prepare,
    async close() {
      schema.stop()
      stop()
      await searcher.close()
      await Promise.all(Object.values(opened.pools).map((pool) => pool.close()))
    },
  }
}

interface Parts extends ReturnType<typeof openPools> {
  readonly options: StoreOptions
  readonly searcher: Searcher
  readonly sharded: boolean
}

async function homeVerbs({ pools, committed, options, searcher, sharded }: Parts) {
  const { hot, exports, slices } = pools
  const { home: bounds, timers } = options
  const logEvent = logEvents(homeLog(bounds))
  const entering = sharded ? enterTokens : async () => {}
  const known = rememberIdentities(timers.stopwatch)
  const reads = readVerbs(hot, allReads(logStatements, bounds.versions))
  const memories = memoryVerbs(hot, committed, bounds, sharded)
  const { stop, left, ...batches } = await batchVerbs(slices, committed, options, memories)
  const verbs = {
    ...noticing(known, {
      ...reads,
      ...writeVerbs(hot, otherWrites(bounds.bytes)),
      ...writeVerbs(hot, loggedWrites(logEvent)),
      ...forgetting(known, writeVerbs(hot, tokenWrites(logEvent), entering)),
      ...memories,
      ...batches,
      ...erasing(searcher.forget, {
        eraseMemory: memories.eraseMemory,
        eraseAgent: eraseAgentVerb(slices, committed, entering, known.forgetAgent),
      }),
      searchMemories: searcher.search,
      exportMemories: exportVerb(exports, bounds.versions),
    }),
    identify: identifyVerb(hot.read, known, sharded),
    findReplacement: findByToken(hot.read, sharded, replacement),
    bear: bearOnce(writeVerbs(hot, agentWrites, entering).bear, reads.findBirth),
    // The disk is the server's: a write that does not fit fails there.
    hasRoom: async () => true,
    countCalls: countCallsVerb(hot, sharded),
  }
  return { verbs, left, stop }
}

/** Imports and rollbacks, once what this node may have left is settled, and erasures are finished. */
async function batchVerbs(
  slices: Connections,
  committed: () => void,
  { home: bounds, timers }: StoreOptions,
  { eventsAfter }: Pick<EventStore, 'eventsAfter'>,
) {
  const reads = readVerbs(slices, allReads(logStatements, bounds.versions))
  const store = batchStore(slices, bounds, reads)
  const settle = settling(store, timers)
  // What cannot be finished now is finished later, or by the next start.
  await eraseLeft(slices, committed).catch(() => {})
  const left = await settleLeft(slices, settle, timers).catch(() => 0)
  const parts = { store, bounds, settle, eventsAfter }
  return {
    importMemories: importVerb(parts, timers.stopwatch),
    rollBack: rollBackVerb(parts, timers.stopwatch),
    stop: settle.stop,
    left: unsettled(left),
  }
}

const searcherOf = (
  databaseUrl: string,
  { searchCache, timers }: StoreOptions,
  sharded: boolean,
): Searcher =>
  startSearcher(
    {
      name: 'postgres-search-thread',
      beside: import.meta.url,
      workerData: { databaseUrl, cacheBytes: searchCache, sharded },
    },
    timers,
  )

function memoryVerbs(
  hot: Connections,
  committed: () => void,
  bounds: HomeBounds,
  sharded: boolean,
) {
  const { changeMemories, appendOnce, eraseMemory } = changeVerbs(hot, bounds)
  const writeMemory = sharded
    ? lockedWriteVerb(changeMemories)
    : writeVerb(hot, committed, bounds, changeMemories)
  // At most one connection per home waits for its lock; the others stay free for other homes.
  const inTurn = createKeyedQueue()
  return {
    ...memoryReads(hot, sharded),
    eventsAfter: eventReader(hot.read),
    ...newsVerbs(hot.read, sharded),
    ...comparing({
      writeMemory: (identity, ...write) =>
        inTurn(identity.agentId, () => writeMemory(identity, ...write)),
      changeMemories: (identity, ...changes) =>
        inTurn(identity.agentId, () => changeMemories(identity, ...changes)),
    }),
    appendOnce: (...append: Parameters<typeof appendOnce>) =>
      inTurn(append[0].agentId, () => appendOnce(...append)),
    eraseMemory,
  }
}

/**
 * Two concurrent births with the same key: one fails with a unique violation, and finds the other.
 */
const bearOnce =
  (bear: HomeStore['bear'], findBirth: HomeStore['findBirth']): HomeStore['bear'] =>
  async (birth, ...rest) => {
    try {
      return await bear(birth, ...rest)
    } catch (error) {
      const known = isDuplicate(error) ? await findBirth(birth.keyHash) : undefined
      if (!known) throw error
      return { outcome: 'known', birth: known }
    }
  }

/** So many homes are counted, however many there are. */
const COUNTED = 1_000

/** The server's, of rows as of now or as of the last ANALYZE: a crash loses those of now. */
const estimated = (table: string) => `
  (SELECT greatest(reltuples, pg_stat_get_live_tuples(oid))::BIGINT FROM pg_class
   WHERE oid = to_regclass('${table}'))`

export const selectTotals = statement<Totals>(`
  SELECT CASE WHEN homes <= ${COUNTED} THEN homes ELSE greatest(homes, ${estimated('homes')}) END
      AS agents,
    CASE WHEN homes <= ${COUNTED} THEN held ELSE greatest(held, ${estimated('memories')}) END
      AS memories
  FROM (
    SELECT count(*) AS homes, coalesce(sum(memories), 0)::BIGINT AS held
    FROM (SELECT memories FROM homes LIMIT ${COUNTED + 1}) AS few
  ) AS counted`)

async function totalsOf({ read }: Connections): Promise<Totals> {
  const [found] = await read(selectTotals)
  return found ?? { agents: 0, memories: 0 }
}

const replacement = byToken<Replacement>(REPLACEMENT_BY_TOKEN)
