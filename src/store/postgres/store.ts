/** The PostgreSQL engine: any number of nodes on one database. */
import { createKeyedQueue } from '../../keyed-queue.ts'
import type { ActivityStore, CountedCalls } from '../port/activity.ts'
import { StoreRefused, StoreUnavailable } from '../port/errors.ts'
import type { HomeStore, Identity } from '../port/home.ts'
import type { HostStore } from '../port/host.ts'
import type { EventStore } from '../port/keeping/events.ts'
import type { MemoryStore } from '../port/keeping/memories.ts'
import type { OAuthStore } from '../port/oauth.ts'
import type { HomeBounds, Progress, Store, StoreOptions, Totals } from '../port/store.ts'
import { rollBackVerb } from '../rollback.ts'
import { type Searcher, startSearcher } from '../search/searcher.ts'
import type { Asked } from '../verbs/verb.ts'
import { allReads, otherWrites, tokenWrites } from '../verbs/verbs.ts'
import { type Connections, openConnections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import { type Hosts, hostsOf, locationOf } from './engine/hosts.ts'
import { permitVerbs } from './engine/permits.ts'
import { readVerbs, writeVerbs } from './engine/run.ts'
import { gatewayVerbs } from './entries.ts'
import { eraseAgentVerb, eraseLeft } from './erase-agent.ts'
import { type Identities, identityVerbs, rememberIdentities } from './identities.ts'
import { changeVerb } from './keeping/changes.ts'
import { eraseVerb } from './keeping/erase.ts'
import { eventStatements, eventVerbs, logEvents, newsVerbs } from './keeping/homes.ts'
import { memoryReads } from './keeping/memories.ts'
import { versionStatements, versionVerbs } from './keeping/versions.ts'
import { writeVerb } from './keeping/write-memory.ts'
import { prepareServer } from './schema/migrations.ts'
import { sweepAhead } from './transfer/ahead.ts'
import { countErasures, openExport } from './transfer/export.ts'
import { importVerb } from './transfer/import.ts'

/** Rows are locked in one order, so that nodes counting at the same time cannot deadlock. */
const countCalls = statement(`
  INSERT INTO daily_calls AS d (agent_id, day, reads, conflicts, refusals, seen_at)
  SELECT s.* FROM unnest($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[],
    $6::BIGINT[]) AS s (agent_id, day, reads, conflicts, refusals, seen_at)
  JOIN agents a ON a.agent_id = s.agent_id
  ORDER BY s.agent_id, s.day
  ON CONFLICT (agent_id, day) DO UPDATE SET reads = d.reads + excluded.reads,
    conflicts = d.conflicts + excluded.conflicts, refusals = d.refusals + excluded.refusals,
    seen_at = greatest(d.seen_at, excluded.seen_at)`)

/** Daily counters of each agent. */
const countCallsVerb =
  ({ write }: Connections): ActivityStore['countCalls'] =>
  async (calls) => {
    const column = <K extends keyof CountedCalls>(name: K) => calls.map((each) => each[name])
    await write(
      countCalls,
      ...[column('agentId'), column('day'), column('reads'), column('conflicts')],
      ...[column('refusals'), column('seenAt')],
    )
  }

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

const poolMax = (hosts: Hosts): number => Number(hosts.option('pool_max') ?? CONNECTIONS)

/** Throws StoreRefused: unreachable, unsafe, too old, or written by a newer program. */
export async function openPostgres(
  databaseUrl: string,
  options: StoreOptions,
  progress: Progress,
): Promise<Store> {
  const location = locationOf(databaseUrl)
  const hosts = hostsOf(databaseUrl)
  const warnings = await prepareServer(hosts, progress).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? outOfReach(location, error) : error
  })
  let commits = 0
  const committed = () => {
    commits++
  }
  const hot = openConnections(hosts, poolMax(hosts), 'agent-home', { committed })
  const exports = openConnections(hosts, EXPORT_CONNECTIONS, 'agent-home export')
  const slices = openConnections(hosts, SLICE_CONNECTIONS, 'agent-home slices')
  const gateway = openConnections(hosts, GATEWAY_CONNECTIONS, 'agent-home gateway')
  const keeping = keepingVerbs(hot, committed, options.home)
  const importMemories = importVerb(slices, committed, options.home)
  const reading = readVerbs(hot, readsOfLog)
  const logEvent = logEvents(options.home.events)
  const others = writeVerbs(hot, otherWrites(logEvent, options.home.bytes))
  const writing = writeVerbs(hot, tokenWrites(logEvent))
  const known = rememberIdentities(() => performance.now())
  const searcher = searcherOf(databaseUrl, options)
  const eraseAgent = eraseAgentVerb(slices, committed)
  await finishLeft(slices, committed)
  return {
    location,
    warnings,
    ...reading,
    ...others,
    bear: bearOnce(others.bear, reading.findBirth),
    ...homeVerbs({
      known,
      searcher,
      keeping,
      reading,
      writing,
      hot,
      exports,
      importMemories,
      eraseAgent,
      ...options.home,
    }),
    ...accessVerbs(writing, known),
    countCalls: countCallsVerb(hot),
    removeEntry: removeEntryVerb(hot, committed),
    ...gatewayVerbs(gateway, committed, options.feed),
    leasePermits: permitVerbs(hot.write),
    status: async () => ({ ...(await totalsOf(hot)), commits, freeBytes: undefined }),
    prepareSearch: searcher.prepare,
    async close() {
      await searcher.close()
      await Promise.all([hot, exports, slices, gateway].map((pool) => pool.close()))
    },
  }
}

/** What cannot be finished now is finished by the next start. */
async function finishLeft(slices: Connections, committed: () => void): Promise<void> {
  await eraseLeft(slices, committed).catch(() => {})
  await sweepAhead(slices, committed).catch(() => {})
}

const searcherOf = (databaseUrl: string, { searchCache }: StoreOptions): Searcher =>
  startSearcher({
    name: 'postgres-search-thread',
    beside: import.meta.url,
    workerData: { databaseUrl, cacheBytes: searchCache },
  })

function outOfReach(location: string, error: StoreUnavailable): StoreRefused {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new StoreRefused(`${location} cannot be used: ${reason}`, { cause: error })
}

function keepingVerbs(hot: Connections, committed: () => void, bounds: HomeBounds) {
  const changeMemories = changeVerb(hot, committed, bounds)
  const writeMemory = writeVerb(hot, committed, bounds, changeMemories)
  // At most one connection per home waits for its lock; the others stay free for other homes.
  const inTurn = createKeyedQueue()
  return {
    ...memoryReads(hot),
    ...versionVerbs(hot, bounds.versions),
    ...eventVerbs(hot, committed, bounds.events),
    ...newsVerbs(hot.read),
    writeMemory: (...[identity, ...write]: Parameters<typeof writeMemory>) =>
      inTurn(identity.agentId, () => writeMemory(identity, ...write)),
    changeMemories: (...[identity, ...changes]: Parameters<typeof changeMemories>) =>
      inTurn(identity.agentId, () => changeMemories(identity, ...changes)),
    eraseMemory: eraseVerb(hot, committed),
  }
}

const readsOfLog = allReads(eventStatements, versionStatements)

interface HomeParts extends HomeBounds {
  readonly known: Identities
  readonly searcher: Searcher
  readonly importMemories: HomeStore['importMemories']
  readonly eraseAgent: ReturnType<typeof eraseAgentVerb>
  readonly keeping: Omit<MemoryStore, 'listDeleted' | 'protectMemory'> &
    Omit<EventStore, 'listEvents' | 'readHead'>
  readonly reading: Asked<typeof readsOfLog>
  readonly writing: Asked<ReturnType<typeof tokenWrites>>
  readonly hot: Connections
  readonly exports: Connections
}

/** Returns when no index of this node contains the erased text. */
async function forgotten<T extends { readonly outcome: string }>(
  searcher: Searcher,
  { agentId }: Identity,
  write: Promise<T>,
): Promise<T> {
  const answer = await write
  if (answer.outcome === 'erased') await searcher.forget(agentId)
  return answer
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

const selectTotals = statement<Totals>(
  'SELECT count(*) AS agents, coalesce(sum(memories), 0)::BIGINT AS memories FROM homes',
)

async function totalsOf({ read }: Connections): Promise<Totals> {
  const [found] = await read(selectTotals)
  return found ?? { agents: 0, memories: 0 }
}

type AsTheyAre =
  | 'bear'
  | 'countBirths'
  | 'findAccount'
  | 'findBirth'
  | 'findReplacement'
  | 'knowsAddress'
  | 'noteUse'
  | 'storeVectors'

/** Access tokens of one grant end as others are issued, or with it. */
const accessVerbs = (
  { issueAccess, endAccess, endGrant }: HomeParts['writing'],
  { forgetAgent }: Identities,
): Pick<OAuthStore, 'issueAccess' | 'endAccess' | 'endGrant'> => ({
  issueAccess: (...[access, now]) =>
    issueAccess(access, now).finally(() => forgetAgent(access.grant.agentId)),
  endAccess: (...[grant, tokenHash]) =>
    endAccess(grant, tokenHash).finally(() => forgetAgent(grant.agentId)),
  endGrant: (...[grant, now]) => endGrant(grant, now).finally(() => forgetAgent(grant.agentId)),
})

function homeVerbs(
  parts: HomeParts,
): Omit<HomeStore, AsTheyAre> & Pick<HostStore, 'resetOperatorToken'> {
  const { known, keeping, reading, writing, hot, exports, versions } = parts
  const { importMemories, eraseAgent, searcher } = parts
  const { identify, checked, noting, forgetting } = identityVerbs(hot.read, known)
  const rollBack = rollBackVerb({ ...reading, ...keeping, importMemories })
  return {
    identify,
    // The disk is the server's: a write that does not fit fails there.
    hasRoom: async () => true,
    readProfile: noting(reading.readProfile),
    setStatus: (identity, status, now) =>
      forgetting(identity, writing.setStatus(identity, status, now)),
    changeProfile: noting(writing.changeProfile),
    eraseAgent: (identity) =>
      checked(
        identity,
        forgotten(
          searcher,
          identity,
          eraseAgent(identity, () => known.forgetAgent(identity.agentId)),
        ),
      ),
    readMemory: noting(keeping.readMemory),
    writeMemory: noting(keeping.writeMemory),
    changeMemories: noting(keeping.changeMemories),
    listMemories: noting(keeping.listMemories),
    listDeleted: noting(reading.listDeleted),
    readVersion: noting(keeping.readVersion),
    listVersions: noting(keeping.listVersions),
    eraseMemory: (identity, ...erasure) =>
      checked(identity, forgotten(searcher, identity, keeping.eraseMemory(identity, ...erasure))),
    protectMemory: noting(writing.protectMemory),
    searchMemories: searcher.search,
    eventsAfter: noting(keeping.eventsAfter),
    listEvents: noting(reading.listEvents),
    readHead: noting(reading.readHead),
    changedHomes: keeping.changedHomes,
    recordEvent: keeping.recordEvent,
    exportMemories: (identity, prefix = '', history = false) =>
      checked(
        identity,
        openExport(exports, identity, { prefix, versions: history ? versions : undefined }),
      ),
    countErasures: (identity) => checked(identity, countErasures(hot.read, identity)),
    importMemories: noting(importMemories),
    rollBack: noting(rollBack),
    rotateAgentToken: (identity, ...token) =>
      forgetting(identity, writing.rotateAgentToken(identity, ...token)),
    createKey: noting(writing.createKey),
    listKeys: noting(reading.listKeys),
    endKey: (identity, ...key) => forgetting(identity, writing.endKey(identity, ...key)),
    replaceOperatorToken: (identity, ...token) =>
      forgetting(identity, writing.replaceOperatorToken(identity, ...token)),
    resetOperatorToken: (agentId, ...token) =>
      writing.resetOperatorToken(agentId, ...token).finally(() => known.forgetAgent(agentId)),
  }
}
