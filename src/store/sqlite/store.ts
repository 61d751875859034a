/** The embedded engine behind the port. */
import { StoreRefused } from '../port/errors.ts'
import type { Store } from '../port/store.ts'
import { mapped, openReader, openWriter, pathOf } from './engine/connection.ts'
import { lockDatabase, type ProcessLock } from './engine/lock.ts'
import { migrate } from './engine/migrations.ts'
import { groupReads } from './engine/reader.ts'
import { startWriter } from './engine/writer.ts'
import { openExport } from './export.ts'
import { rememberIdentities } from './identities.ts'
import { prepareReads } from './reads.ts'

/** Throws StoreRefused: held by another process, written by a newer program, or not durable. */
export async function openSqlite(databaseUrl: string, now: number): Promise<Store> {
  const path = pathOf(databaseUrl)
  const lock = explaining(path, () => openLocked(path, now))
  const reader = mapped(openReader(path))
  const identities = rememberIdentities()
  const reads = prepareReads(reader, identities.remember)
  const writer = startWriter(path)

  const { read, asked } = groupReads(reader)
  /** For writes that change what a token may do. */
  const forgetting = <T>(write: Promise<T>): Promise<T> => write.finally(identities.forget)

  return {
    location: path,
    warnings: [],
    leasePermits: undefined,
    identify: (tokenHash) => identities.known(tokenHash) ?? read(() => reads.identify(tokenHash)),
    findBirth: (keyHash) => read(() => reads.findBirth(keyHash)),
    countBirths: (bornFrom, since) => read(() => reads.countBirths(bornFrom, since)),
    findAccount: (email) => read(() => reads.findAccount(email)),
    bear: (...birth) => writer.submit('bear', ...birth),
    readProfile: (identity) => read(() => reads.readProfile(identity)),
    setStatus: (...change) => forgetting(writer.submit('setStatus', ...change)),
    readMemory: (identity, key) => read(() => reads.readMemory(identity, key)),
    async writeMemory(identity, write, maxMemories, now) {
      const result = await writer.submit('writeMemory', identity, write, maxMemories, now)
      if (result.outcome !== 'saved') return result
      const { key, text, metadata } = write
      const { id, version, createdAt, updatedAt } = result.receipt
      const memory = { id, key, text, metadata, version, createdAt, updatedAt }
      return { outcome: 'saved', memory }
    },
    exportMemories: (identity) =>
      read(() => openExport(path, identity, () => asked() + writer.submitted())),
    rotateAgentToken: (identity, tokenHash) =>
      forgetting(writer.submit('rotateAgentToken', identity, tokenHash)),
    createSession: (...session) => writer.submit('createSession', ...session),
    findSession: (tokenHash, at) => read(() => reads.findSession(tokenHash, at)),
    touchSession: (...session) => writer.submit('touchSession', ...session),
    listSessions: (accountId, at) => read(() => reads.listSessions(accountId, at)),
    revokeSession: (...session) => writer.submit('revokeSession', ...session),
    listAgents: (accountId, page) => read(() => reads.listAgents(accountId, page)),
    identifyOwner: (accountId, agentId) => read(() => reads.identifyOwner(accountId, agentId)),
    attachAgent: (identity, accountId) => writer.submit('attachAgent', identity, accountId),
    listMemories: (identity, prefix, page) =>
      read(() => reads.listMemories(identity, prefix, page)),
    readActivity: (identity, sinceDay, limit) =>
      read(() => reads.readActivity(identity, sinceDay, limit)),
    leaveEntry: (entry, capacity) => writer.submit('leaveEntry', entry, capacity),
    readFeed: (query) => read(() => reads.readFeed(query)),
    findKindred: (phrases, limit) => read(() => reads.findKindred(phrases, limit)),
    summarizeRooms: (latest) => read(() => reads.summarizeRooms(latest)),
    entriesAfter: (id, limit, maxBytes) => read(() => reads.entriesAfter(id, limit, maxBytes)),
    lastArrival: () => read(() => reads.lastArrival()),
    checkWritable: (at) => writer.submit('checkWritable', at),
    status: () => read(() => ({ ...reads.totals(), commits: writer.commits() })),
    async close() {
      // The last to close may write: it folds the log into the database, which is one file again.
      reader.close()
      await writer.close()
      lock.release()
    },
  }
}

/** What SQLite says of a file that it cannot use, for the person who named the file. */
function explaining<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new StoreRefused(`${path} cannot be used: ${message}. Check DATABASE_URL.`, {
      cause: error,
    })
  }
}

/** Brings the schema up to date under the lock, before the writer's thread has its connection. */
function openLocked(path: string, now: number): ProcessLock {
  const db = openWriter(path)
  let lock: ProcessLock | undefined
  try {
    lock = lockDatabase(path, now)
    migrate(db, path)
    return lock
  } catch (error) {
    lock?.release()
    throw error
  } finally {
    db.close()
  }
}
