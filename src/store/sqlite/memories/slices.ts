/** Reads memories for the search index. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../../port/identity.ts'
import { endOf } from '../../rows.ts'
import type { IndexedMemory } from '../../search/home-index.ts'
import { type MemorySlice, SLICE } from '../../search/indexes.ts'
import { prepareTuples } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'

type TextTuple = [
  key: string,
  version: number,
  createdAt: number,
  updatedAt: number,
  metadata: string,
  text: Uint8Array<ArrayBuffer>,
]

/** Five times as fast as the driver's decoding of texts that are not ASCII. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function prepareSlices(db: DatabaseSync, refuse: Refuse) {
  const texts = prepareTuples<TextTuple>(
    db,
    `SELECT m.key, m.version, m.created_at, m.updated_at, v.metadata, CAST(v.text AS BLOB)
     FROM memories m JOIN log v ON v.n = m.n
     WHERE m.agent_id = ? AND m.key > ? AND m.key >= ? AND m.key < ? AND m.deleted = 0
     ORDER BY m.key`,
  )
  return (identity: Identity, prefix: string, after: string): MemorySlice => {
    const refused = refuse(identity)
    if (refused) return refused
    const memories: IndexedMemory[] = []
    let size = 0
    for (const row of texts.iterate(identity.agentId, after, prefix, endOf(prefix))) {
      if (memories.length === SLICE.memories || size >= SLICE.bytes) {
        return { outcome: 'memories', memories, next: memories.at(-1)?.key }
      }
      const [key, version, createdAt, updatedAt, metadata, text] = row
      const times = { createdAt, updatedAt }
      memories.push({ key, version, ...times, metadata, text: decoder.decode(text) })
      size += text.length + metadata.length
    }
    return { outcome: 'memories', memories, next: undefined }
  }
}
