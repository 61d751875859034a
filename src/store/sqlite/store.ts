/** The embedded engine behind the port. */

import type { GatewayStore } from '../port/gateway.ts'
import type { HomeStore, Identity } from '../port/home.ts'
import type { HostStore } from '../port/host.ts'
import type { EventStore } from '../port/keeping/events.ts'
import type { MemoryStore } from '../port/keeping/memories.ts'
import type { SearchStore } from '../port/keeping/search.ts'
import type { KeyStore } from '../port/keys.ts'
import type { SessionStore } from '../port/sessions.ts'
import type { Progress, Store, StoreOptions } from '../port/store.ts'
import { startSearcher } from '../search/searcher.ts'
import { consoleReads, consoleWrites } from '../verbs/console.ts'
import { prepareActivityReads } from './activity.ts'
import { prepareAgentReads } from './agents.ts'
import { listenToHost } from './control/listen.ts'
import { mapped, openReader, pathOf } from './engine/connection.ts'
import { databaseFile, exposures } from './engine/files.ts'
import { type Held, holdDatabase } from './engine/hold.ts'
import { boundLog, cleanAll } from './engine/long-reads.ts'
import { groupReads } from './engine/reader.ts'
import { readVerbs, submitVerbs } from './engine/run.ts'
import { freeBytesFor, keepReserve } from './engine/space.ts'
import { startWriter } from './engine/writer.ts'
import { prepareGatewayReads } from './entries.ts'
import { eraseAgentVerb } from './erase-agent.ts'
import { prepareHostReads } from './host.ts'
import { prepareIdentify, rememberIdentities } from './identities.ts'
import { prepareCountErasures } from './keeping/erase.ts'
import { prepareEvents, prepareNews } from './keeping/events.ts'
import { prepareHistory, prepareListMemories, prepareReadMemory } from './keeping/memories.ts'
import { prepareKeyReads } from './keys.ts'
import { prepareOwner } from './sessions.ts'
import { openExport, whileLetIn } from './transfer/export.ts'
import { importVerb } from './transfer/stage.ts'

const NO_ROOM =
  'Less than DISK_RESERVE is free where the data lies: births and the gateway take nothing.'

function openParts(path: string, { file }: Held, options: StoreOptions) {
  const db = mapped(openReader(path))
  const known = rememberIdentities()
  const { identify, refuse } = prepareIdentify(db, known.remember)
  const writer = startWriter({ path, file, options })
  const reads = groupReads(db)
  return {
    path,
    versions: options.home.versions,
    known,
    identify,
    agents: prepareAgentReads(db, identify),
    keys: prepareKeyReads(db, refuse),
    memories: {
      read: prepareReadMemory(db, refuse),
      list: prepareListMemories(db, refuse),
      ...prepareHistory(db, refuse, options.home.versions),
    },
    countErasures: prepareCountErasures(db, refuse),
    eventsAfter: prepareEvents(db, refuse),
    changedHomes: prepareNews(db),
    identifyOwner: prepareOwner(db),
    activity: prepareActivityReads(db, refuse),
    gateway: prepareGatewayReads(db),
    host: prepareHostReads(db),
    ...reads,
    console: readVerbs(db, consoleReads, reads.read),
    space: keepReserve(options.diskReserve, {
      freeBytes: () => freeBytesFor(path),
      stopwatch: () => performance.now(),
    }),
    writer,
    longReads: boundLog(db, {
      rest: () => writer.submit('rest'),
      clean: () => writer.clean(),
    }),
    searcher: startSearcher({
      name: 'search-thread',
      beside: import.meta.url,
      workerData: { path, cacheBytes: options.searchCache },
    }),
    closeReader: () => db.close(),
  }
}

type Parts = ReturnType<typeof openParts>

/** Answers when nothing of what was erased is left in any file, nor in an index. */
async function forgotten<T extends { readonly outcome: string }>(
  { longReads, searcher }: Parts,
  { agentId }: Identity,
  write: Promise<T>,
): Promise<T> {
  const answer = await write
  if (answer.outcome === 'erased') {
    await Promise.all([longReads.forget(agentId), searcher.forget(agentId)])
  }
  return answer
}

const keepingVerbs = (
  parts: Parts,
  { memories, eventsAfter, changedHomes, read, writer, searcher } = parts,
): MemoryStore & SearchStore & EventStore => ({
  readMemory: (identity, key) => read(() => memories.read(identity, key)),
  async writeMemory(identity, write, now) {
    const result = await writer.submit('writeMemory', identity, write, now)
    if (result.outcome !== 'saved') return result
    const { key, text, metadata } = write
    const { id, version, createdAt, updatedAt } = result.receipt
    const saved = { id, key, text, metadata, version, createdAt, updatedAt }
    return { outcome: 'saved', memory: saved }
  },
  changeMemories: (...changes) => writer.submit('changeMemories', ...changes),
  listMemories: (identity, query) => read(() => memories.list(identity, query)),
  searchMemories: (identity, query) => searcher.search(identity, query),
  readVersion: (...version) => read(() => memories.readVersion(...version)),
  listVersions: (...versions) => read(() => memories.listVersions(...versions)),
  eraseMemory: (...erasure) =>
    forgotten(parts, erasure[0], writer.submit('eraseMemory', ...erasure)),
  eventsAfter: (...after) => read(() => eventsAfter(...after)),
  changedHomes: (seen) => read(() => changedHomes(seen)),
  recordEvent: (...event) => writer.submit('recordEvent', ...event),
})

/** For writes that change what a token may do. */
const forgetting = <T>({ known }: Parts, write: Promise<T>): Promise<T> =>
  write.finally(known.forget)

function keyVerbs(parts: Parts): KeyStore {
  const { keys, read, writer } = parts
  return {
    rotateAgentToken: (...token) => forgetting(parts, writer.submit('rotateAgentToken', ...token)),
    createKey: (...key) => forgetting(parts, writer.submit('createKey', ...key)),
    listKeys: (identity) => read(() => keys.listKeys(identity)),
    endKey: (...key) => forgetting(parts, writer.submit('endKey', ...key)),
    noteUse: (...use) => writer.submit('noteUse', ...use),
    replaceOperatorToken: (...token) =>
      forgetting(parts, writer.submit('replaceOperatorToken', ...token)),
    findReplacement: (tokenHash) => read(() => keys.findReplacement(tokenHash)),
  }
}

function homeVerbs(parts: Parts): Omit<HomeStore, 'knowsAddress'> {
  const { agents, known, longReads, read, space, writer } = parts
  const asked = () => parts.asked() + writer.submitted()
  const eraseAgent = eraseAgentVerb(writer, known.forget)
  return {
    ...keepingVerbs(parts),
    ...keyVerbs(parts),
    identify: (tokenHash) => known.known(tokenHash) ?? read(() => parts.identify(tokenHash)),
    findBirth: (keyHash) => read(() => agents.findBirth(keyHash)),
    countBirths: (place, since) => read(() => agents.countBirths(place, since)),
    findAccount: (email) => read(() => agents.findAccount(email)),
    hasRoom: space.hasRoom,
    async bear(...birth) {
      await space.takeArrivals()
      return writer.submit('bear', ...birth)
    },
    readProfile: (...wanted) => read(() => agents.readProfile(...wanted)),
    setStatus: (...change) => forgetting(parts, writer.submit('setStatus', ...change)),
    changeProfile: (...change) => writer.submit('changeProfile', ...change),
    exportMemories(identity, prefix = '', history = false) {
      const wanted = { identity, prefix, versions: history ? parts.versions : undefined }
      return whileLetIn(longReads, identity, (signal) =>
        read(() => openExport(parts.path, wanted, { asked, signal })),
      )
    },
    countErasures: (identity) => read(() => parts.countErasures(identity)),
    importMemories: importVerb(writer),
    eraseAgent: (identity) => forgotten(parts, identity, eraseAgent(identity)),
  }
}

const hostVerbs = (parts: Parts): HostStore => ({
  resetOperatorToken: (...token) =>
    forgetting(parts, parts.writer.submit('resetOperatorToken', ...token)),
  recoverAccount: (...recovery) => parts.writer.submit('recoverAccount', ...recovery),
  listEntries: (wanted) => parts.read(() => parts.host.listEntries(wanted)),
  removeEntry: (id) => parts.writer.submit('removeEntry', id),
})

const sessionVerbs = (parts: Parts): SessionStore & Pick<HomeStore, 'knowsAddress'> => {
  const { activity, console, identifyOwner, read, writer } = parts
  return {
    ...console,
    ...submitVerbs(consoleWrites, writer.submit),
    createSession: (...session) => writer.submit('createSession', ...session),
    identifyOwner: (...agent) => read(() => identifyOwner(...agent)),
    leaveAgent: (...agent) => writer.submit('leaveAgent', ...agent),
    attachAgent: (...agent) => writer.submit('attachAgent', ...agent),
    countCalls: (calls) => writer.submit('countCalls', calls),
    listAgents: (...agents) => read(() => activity.listAgents(...agents)),
    readActivity: (...asked) => read(() => activity.readActivity(...asked)),
  }
}

const gatewayVerbs = ({ gateway, read, space, writer }: Parts): GatewayStore => ({
  async leaveEntry(entry) {
    await space.takeArrivals()
    return writer.submit('leaveEntry', entry)
  },
  readFeed: (query) => read(() => gateway.readFeed(query)),
  findKindred: (phrases, limit) => read(() => gateway.findKindred(phrases, limit)),
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
  const held = holdDatabase(path, now, progress)
  const parts = openParts(path, held, options)
  const { closeReader, searcher, space, writer } = parts
  const host = hostVerbs(parts)
  const control = await listenToHost(path, host)
  // An erasure tries again, and says so if it cannot.
  if (!held.isClean) cleanAll(writer).catch(() => {})
  return {
    location: path,
    warnings: [
      ...exposures(path),
      ...((await space.hasRoom()) ? [] : [NO_ROOM]),
      ...control.warnings,
    ],
    leasePermits: undefined,
    ...homeVerbs(parts),
    ...host,
    ...sessionVerbs(parts),
    ...gatewayVerbs(parts),
    checkWritable: (at) => writer.submit('checkWritable', at),
    async status() {
      const freeBytes = await freeBytesFor(path).catch(() => undefined)
      return { ...(await writer.totals()), commits: writer.commits(), freeBytes }
    },
    prepareSearch: searcher.prepare,
    async close() {
      await control.close()
      // The last to close may write: it folds the log into the database, which is one file again.
      closeReader()
      await searcher.close()
      await writer.close()
      held.release()
    },
  }
}
