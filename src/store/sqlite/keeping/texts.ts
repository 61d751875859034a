/** Memories as a search reads them: their texts, and nothing that it does not look at. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../../port/home.ts'
import { endOf } from '../../rows.ts'
import type { LookedAt, Slice, SliceQuery } from '../../search/look.ts'
import { prepareTuples } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'

type TextTuple = [key: string, metadata: string, text: Uint8Array<ArrayBuffer>]

/** Five times as quick as the driver, where a text is not all ASCII. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const lookedAt = ([key, metadata, text]: TextTuple): LookedAt => ({
  key,
  metadata,
  text: decoder.decode(text),
  bytes: text.length,
})

export function prepareTexts(db: DatabaseSync, refuse: Refuse) {
  const texts = prepareTuples<TextTuple>(
    db,
    `SELECT m.key, v.metadata, CAST(v.text AS BLOB) FROM memories m JOIN log v ON v.n = m.n
     WHERE m.agent_id = ? AND m.key > ? AND m.key >= ? AND m.key < ? AND m.deleted = 0
       AND m.pinned >= ?
     ORDER BY m.key`,
  )
  return (
    identity: Identity,
    { prefix, pinned, after = '', limit, maxBytes }: SliceQuery,
  ): Slice => {
    const refused = refuse(identity)
    if (refused) return refused
    const memories: LookedAt[] = []
    let size = 0
    const range = [identity.agentId, after, prefix, endOf(prefix), pinned ? 1 : 0] as const
    for (const row of texts.iterate(...range)) {
      const last = memories.at(-1)
      if (last && (memories.length === limit || size >= maxBytes)) {
        return { outcome: 'memories', memories, next: last.key }
      }
      const memory = lookedAt(row)
      memories.push(memory)
      size += memory.bytes + memory.metadata.length
    }
    return { outcome: 'memories', memories, next: undefined }
  }
}
