/** What tasks wrote to a checkpoint, in the order in which a graph applies it. */
import {
  type CheckpointPendingWrite,
  compareWritesSortKeys,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint'
import type { WritesLine } from './lines.ts'
import { type Packed, pack, unpack } from './packed.ts'

interface Write {
  readonly task: string
  readonly path: string
  readonly index: number
  readonly channel: string
  readonly value: Packed
}

export async function writesLine(
  serde: SerializerProtocol,
  writes: readonly PendingWrite[],
  task: string,
  path: string,
): Promise<WritesLine> {
  const packed = writes.map(
    async ([channel, value], at) =>
      [channel, WRITES_IDX_MAP[channel] ?? at, await pack(serde, value)] as const,
  )
  return { task, path, at: Date.now(), writes: await Promise.all(packed) }
}

const writesIn = ({ task, path, writes }: WritesLine): Write[] =>
  writes.map(([channel, index, value]) => ({ task, path, index, channel, value }))

/** A task that runs again writes nothing twice; its error or interrupt is what it said last. */
function valid(lines: readonly WritesLine[]): Write[] {
  const found = new Map<string, Write>()
  const inTime = lines.toSorted((a, b) => a.at - b.at)
  for (const write of inTime.flatMap(writesIn)) {
    const id = JSON.stringify([write.task, write.index])
    if (write.index < 0 || !found.has(id)) found.set(id, write)
  }
  return [...found.values()]
}

const keyOf = ({ path, task, index }: Write) => writesSortKey(path, task, index)

export function pendingWrites(
  serde: SerializerProtocol,
  lines: readonly WritesLine[],
): Promise<CheckpointPendingWrite[]> {
  const sorted = valid(lines).toSorted((a, b) => compareWritesSortKeys(keyOf(a), keyOf(b)))
  return Promise.all(
    sorted.map(
      async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [
        task,
        channel,
        await unpack(serde, value),
      ],
    ),
  )
}
