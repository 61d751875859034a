/** A consistent export: one read transaction on a connection of its own, read in batches. */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { ExportAnswer, Identity, Memory } from '../port.ts'
import { MEMORY_COLUMNS, type MemoryRow, memoryOf } from '../rows.ts'
import { openReader, prepare, translate } from './connection.ts'
import { prepareReads } from './reads.ts'

/** Text read before the event loop gets its turn. */
const BATCH_BYTES = 32 * 1024

function* batches(rows: Iterable<MemoryRow>): Generator<Memory[]> {
  let batch: Memory[] = []
  let size = 0
  for (const row of rows) {
    batch.push(memoryOf(row))
    size += row.text.length + row.metadata.length
    if (size < BATCH_BYTES) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

async function* read(rows: Iterable<MemoryRow>): AsyncGenerator<Memory[]> {
  try {
    for (const batch of batches(rows)) {
      yield batch
      await setImmediate()
    }
  } catch (error) {
    throw translate(error)
  }
}

function begin(db: DatabaseSync, identity: Identity): ExportAnswer {
  db.exec('BEGIN')
  const reads = prepareReads(db)
  const answer = reads.refuse(identity) ?? reads.readProfile(identity)
  if (answer.outcome !== 'profile') return answer
  const rows = prepare<MemoryRow>(
    db,
    `SELECT ${MEMORY_COLUMNS} FROM memories WHERE agent_id = ? ORDER BY key`,
  ).iterate(identity.agentId)
  return { ...answer, outcome: 'export', memories: read(rows), close: () => close(db) }
}

function close(db: DatabaseSync): void {
  if (db.isOpen) db.close()
}

export function openExport(path: string, identity: Identity): ExportAnswer {
  const db = openReader(path)
  let answer: ExportAnswer | undefined
  try {
    answer = begin(db, identity)
    return answer
  } finally {
    if (answer?.outcome !== 'export') close(db)
  }
}
