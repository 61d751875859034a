/** The embedded engine behind the port. */
import type { Store } from '../port.ts'
import { openReader, openWriter, pathOf, transact, translate } from './connection.ts'
import { openExport } from './export.ts'
import { lockDatabase } from './lock.ts'
import { migrate } from './migrations.ts'
import { prepareReads } from './reads.ts'
import { prepareWrites } from './writes.ts'

/** Throws StoreRefused: held by another process, written by a newer program, or not durable. */
export async function openSqlite(databaseUrl: string, now: number): Promise<Store> {
  const path = pathOf(databaseUrl)
  const { lock, writer } = openLocked(path, now)
  const reader = openReader(path)
  const reads = prepareReads(reader)
  const writes = prepareWrites(writer)
  let commits = 0

  const commit = async <T>(work: () => T): Promise<T> => {
    try {
      const result = transact(writer, work)
      commits++
      return result
    } catch (error) {
      throw translate(error)
    }
  }
  const read = async <T>(work: () => T): Promise<T> => {
    try {
      return work()
    } catch (error) {
      throw translate(error)
    }
  }

  return {
    location: path,
    identify: (tokenHash) => read(() => reads.identify(tokenHash)),
    findBirth: (keyHash) => read(() => reads.findBirth(keyHash)),
    countBirths: (bornFrom, since) => read(() => reads.countBirths(bornFrom, since)),
    findAccount: (email) => read(() => reads.findAccount(email)),
    bear: (birth, limits, at) => commit(() => writes.bear(birth, limits, at)),
    readProfile: (identity) => read(() => reads.readProfile(identity)),
    setStatus: (identity, status, at) => commit(() => writes.setStatus(identity, status, at)),
    readMemory: (identity, key) => read(() => reads.readMemory(identity, key)),
    writeMemory: (identity, write, max, at) =>
      commit(() => writes.writeMemory(identity, write, max, at)),
    exportMemories: (identity) => read(() => openExport(path, identity)),
    rotateAgentToken: (identity, tokenHash) =>
      commit(() => writes.rotateAgentToken(identity, tokenHash)),
    createSession: (session, replaced, at) =>
      commit(() => writes.createSession(session, replaced, at)),
    findSession: (tokenHash, at) => read(() => reads.findSession(tokenHash, at)),
    touchSession: (id, expiresAt, at) => commit(() => writes.touchSession(id, expiresAt, at)),
    listSessions: (accountId, at) => read(() => reads.listSessions(accountId, at)),
    revokeSession: (accountId, id) => commit(() => writes.revokeSession(accountId, id)),
    listAgents: (accountId, page) => read(() => reads.listAgents(accountId, page)),
    identifyOwner: (accountId, agentId) => read(() => reads.identifyOwner(accountId, agentId)),
    attachAgent: (identity, accountId) => commit(() => writes.attachAgent(identity, accountId)),
    listMemories: (identity, prefix, page) =>
      read(() => reads.listMemories(identity, prefix, page)),
    readActivity: (identity, sinceDay, limit) =>
      read(() => reads.readActivity(identity, sinceDay, limit)),
    checkWritable: (at) => commit(() => writes.checkWritable(at)),
    status: () => read(() => ({ ...reads.totals(), commits })),
    async close() {
      reader.close()
      writer.close()
      lock.release()
    },
  }
}

function openLocked(path: string, now: number) {
  const writer = openWriter(path)
  try {
    const lock = lockDatabase(path, now)
    migrate(writer, path)
    return { lock, writer }
  } catch (error) {
    writer.close()
    throw error
  }
}
