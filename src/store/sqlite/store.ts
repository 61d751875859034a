/** The SQLite engine. */
import { BY_HOST } from '../answers.ts'
import { type BatchStore, clockFrom } from '../batches.ts'
import { comparing } from '../comparing.ts'
import { importVerb } from '../import.ts'
import type { EventStore } from '../port/events.ts'
import type { GatewayStore } from '../port/gateway.ts'
import type { HomeStore } from '../port/home.ts'
import type { Identity } from '../port/identity.ts'
import type { MemoryStore } from '../port/memories.ts'
import type { Progress, Store, StoreOptions } from '../port/store.ts'
import { rollBackVerb } from '../rollback.ts'
import { startSearcher } from '../search/searcher.ts'
import { type Settle, settling, unsettled } from '../settle.ts'
import type { LogEvent } from '../verbs/controls.ts'
import { erasing } from '../verbs/erasing.ts'
import { allReads, loggedWrites, otherWrites, tokenWrites } from '../verbs/verbs.ts'
import { listenToHost } from './control/listen.ts'
import { mapped, openReader, pathOf } from './engine/connection.ts'
import { databaseFile, exposures } from './engine/files.ts'
import { type LockedDatabase, lockDatabase } from './engine/lock.ts'
import { boundLog, cleanAll } from './engine/long-reads.ts'
import { atOnce, groupReads, readVerbs } from './engine/run.ts'
import { freeBytesFor, keepReserve } from './engine/space.ts'
import { startWriter, submitVerbs, type Writer } from './engine/writer.ts'
import { prepareGatewayReads } from './entries.ts'
import { prepareIdentify, rememberIdentities } from './identities.ts'
import { prepareEvents, prepareNews } from './memories/event-reads.ts'
import { prepareReadHeads } from './memories/home-log.ts'
import { prepareListMemories, prepareReadMemory } from './memories/reads.ts'
import { prepareUnfinished } from './memories/unfinished.ts'
import { logStatements } from './memories/versions.ts'
import { openExport, whileLetIn } from './transfer/export.ts'

const NO_ROOM =
  'Less than DISK_RESERVE is free where the data lies: births and the gateway take nothing.'

function openParts(
  path: string,
  { file }: LockedDatabase,
  now: number,
  { timers, ...options }: StoreOptions,
) {
  const db = mapped(openReader(path))
  const known = rememberIdentities()
  const { identify, refuse } = prepareIdentify(db, known.remember)
  const writer = startWriter({ path, file, options })
  const grouped = groupReads(db)
  return {
    path,
    timers,
    bounds: options.home,
    clock: clockFrom(now, timers.stopwatch),
    known,
    identify,
    memories: {
      read: prepareReadMemory(db, refuse),
      list: prepareListMemories(db, refuse),
    },
    readHeads: prepareReadHeads(db, refuse),
    unfinished: prepareUnfinished(db),
    eventsAfter: prepareEvents(db, refuse),
    changedHomes: prepareNews(db),
    gateway: prepareGatewayReads(db),
    ...grouped,
    reads: readVerbs(db, allReads(logStatements, options.home.versions), grouped.read),
    space: keepReserve(options.diskReserve, {
      freeBytes: () => freeBytesFor(path),
      stopwatch: timers.stopwatch,
    }),
    writer,
    longReads: boundLog(db, {
      rest: () => writer.submit('rest'),
      clean: () => writer.clean(),
      timers,
    }),
    searcher: startSearcher(
      {
        name: 'search-thread',
        beside: import.meta.url,
        workerData: { path, cacheBytes: options.searchCache },
      },
      timers,
    ),
    closeReader: () => db.close(),
  }
}

type Parts = ReturnType<typeof openParts>

const memoryVerbs = ({ memories, eventsAfter, changedHomes, read, writer: { submit } }: Parts) => ({
  readMemory: (...[identity, key]: Parameters<MemoryStore['readMemory']>) =>
    read(() => memories.read(identity, key)),
  ...comparing({
    async writeMemory(identity, write, now) {
      const result = await submit('writeMemory', identity, write, now)
      if (result.outcome !== 'saved') return result
      const { key, text, metadata } = write
      const { id, version, createdAt, updatedAt } = result.receipt
      const saved = { id, key, text, metadata, version, createdAt, updatedAt }
      return { outcome: 'saved', memory: saved }
    },
    changeMemories: (...changes) => submit('changeMemories', ...changes),
  }),
  appendOnce: (...append: Parameters<MemoryStore['appendOnce']>) => submit('appendOnce', ...append),
  listMemories: (...[identity, query]: Parameters<MemoryStore['listMemories']>) =>
    read(() => memories.list(identity, query)),
  eventsAfter: (...after: Parameters<EventStore['eventsAfter']>) =>
    read(() => eventsAfter(...after)),
  changedHomes: (seen: ReadonlyMap<string, number>) => read(() => changedHomes(seen)),
})

/** No event is logged on this side, nor is a limit held: the verbs are known by their names. */
const unlogged: LogEvent = () => atOnce(() => {})

/** The verbs that are written for both engines. */
const sharedVerbs = ({ known, reads, writer: { submit } }: Parts) => ({
  ...reads,
  ...submitVerbs(otherWrites(0), submit),
  ...submitVerbs(loggedWrites(unlogged), submit),
  ...submitVerbs(tokenWrites(unlogged), (...write) => submit(...write).finally(known.forget)),
})

/** What this process leaves, no other goes on with. */
export const batchesOf = ({
  clock,
  read,
  readHeads,
  reads,
  unfinished,
  writer: { submit },
}: Pick<Parts, 'clock' | 'read' | 'readHeads' | 'reads' | 'unfinished'> & {
  readonly writer: Pick<Writer, 'submit'>
}): BatchStore => ({
  ...reads,
  readHeads: (...asked) => read(() => readHeads(...asked)),
  writeBatch: (...batch) => submit('writeBatch', ...batch),
  listUnfinished: () => read(() => unfinished.all()),
  async takeOver(agentId) {
    const going = await read(() => unfinished.of(agentId))
    if (!going) return undefined
    const { event } = going
    const [begun] = await reads.eventsBetween(agentId, 'oldest', event - 1, event)
    return { agentId, holder: '', by: begun?.by ?? BY_HOST, now: clock(), ...going }
  },
  goOn: async () => {},
  async prune(agentId) {
    while (await submit('pruneHome', agentId));
  },
})

/** `gone`: called when its tokens are invalid. */
export const eraseAgentVerb =
  ({ submit }: Pick<Writer, 'submit'>, gone: () => void) =>
  async (identity: Identity) => {
    const answer = await submit('eraseAgent', identity).finally(gone)
    if (answer.outcome === 'erased') while (await submit('eraseRest', identity.agentId));
    return answer
  }

function homeVerbs(parts: Parts, batches: BatchStore, settle: Settle) {
  const { bounds, known, longReads, read, searcher, space, timers, writer } = parts
  const asked = () => parts.asked() + writer.submitted()
  const memories = memoryVerbs(parts)
  const batching = { store: batches, bounds, settle, eventsAfter: memories.eventsAfter }
  const forget = (agentId: string) =>
    Promise.all([longReads.forget(agentId), searcher.forget(agentId)])
  return {
    ...memories,
    ...erasing(forget, {
      eraseMemory: (...erasure: Parameters<HomeStore['eraseMemory']>) =>
        writer.submit('eraseMemory', ...erasure),
      eraseAgent: eraseAgentVerb(writer, known.forget),
    }),
    searchMemories: searcher.search,
    identify: (tokenHash: string) =>
      known.known(tokenHash) ?? read(() => parts.identify(tokenHash)),
    hasRoom: space.hasRoom,
    async bear(...birth: Parameters<HomeStore['bear']>) {
      await space.takeArrivals()
      return writer.submit('bear', ...birth)
    },
    exportMemories(identity: Identity, prefix = '', history = false) {
      const wanted = { identity, prefix, versions: history ? bounds.versions : undefined }
      return whileLetIn(longReads, identity, (signal) =>
        read(() => openExport(parts.path, wanted, { asked, signal, timers })),
      )
    },
    importMemories: importVerb(batching, timers.stopwatch),
    rollBack: rollBackVerb(batching, timers.stopwatch),
  }
}

const gatewayVerbs = ({ gateway, read, space, writer }: Parts): GatewayStore => ({
  async leaveEntry(entry) {
    await space.takeArrivals()
    return writer.submit('leaveEntry', entry)
  },
  readFeed: (query) => read(() => gateway.readFeed(query)),
  findKindred: (...sought) => read(() => gateway.findKindred(...sought)),
  summarizeRooms: (latest) => read(() => gateway.summarizeRooms(latest)),
  entriesAfter: (id, limit, maxBytes) => read(() => gateway.entriesAfter(id, limit, maxBytes)),
  lastArrival: () => read(() => gateway.lastArrival()),
})

/** Throws StoreRefused: held by another process, written by a newer program, or not durable. */
export async function openSqlite(
  databaseUrl: string,
  now: number,
  options: StoreOptions,
  progress: Progress = () => {},
): Promise<Store> {
  const path = databaseFile(pathOf(databaseUrl))
  const locked = lockDatabase(path, now, options.timers, progress)
  const parts = openParts(path, locked, now, options)
  const { closeReader, searcher, space, writer } = parts
  const shared = {
    ...sharedVerbs(parts),
    removeEntry: (id: string) => writer.submit('removeEntry', id),
  }
  const control = await listenToHost(path, shared)
  const batches = batchesOf(parts)
  const settle = settling(batches, options.timers)
  const left = unsettled(await settle.all())
  // An erasure tries again, and says so if it cannot.
  if (!locked.isClean) cleanAll({ ...writer, timers: options.timers }).catch(() => {})
  return {
    location: path,
    isNew: locked.isNew,
    warnings: [
      ...exposures(path),
      ...((await space.hasRoom()) ? [] : [NO_ROOM]),
      ...control.warnings,
      ...(left ? [left] : []),
    ],
    leasePermits: undefined,
    whenRefused: undefined,
    ...shared,
    ...homeVerbs(parts, batches, settle),
    countCalls: (calls) => writer.submit('countCalls', calls),
    ...gatewayVerbs(parts),
    async status() {
      const freeBytes = await freeBytesFor(path).catch(() => undefined)
      return { ...(await writer.totals()), commits: writer.commits(), freeBytes }
    },
    prepareSearch: searcher.prepare,
    async close() {
      settle.stop()
      await control.close()
      // The last to close may write: it folds the log into the database, which is one file again.
      closeReader()
      await searcher.close()
      await writer.close()
      locked.release()
    },
  }
}
