/** Merges the lists of a file: the versions of each key, with the current one last. */
import { problem } from '../../errors.ts'
import { pointerOf } from '../../json/pointer.ts'
import type { Author } from '../../store/port/identity.ts'
import type { ImportSource, KeptVersion } from '../../store/port/transfer.ts'
import type { Row } from './elements.ts'
import type { SpooledList } from './imports.ts'
import type { Received } from './receive.ts'

/** Of texts and metadata, per batch. */
const BATCH_BYTES = 65_536

/** Approximate bytes of a version besides these. */
const ROW_BYTES = 256

/** A list with a lookahead of one row. */
async function openList(spooled: SpooledList) {
  const lines = spooled.lines()
  const read = async (): Promise<Row | undefined> => {
    const { done, value } = await lines.next()
    return done ? undefined : (JSON.parse(value) as Row)
  }
  let next = await read()
  return {
    peek: () => next,
    async take(): Promise<void> {
      next = await read()
    },
    close: () => lines.return(undefined),
  }
}

type List = Awaited<ReturnType<typeof openList>>

const wrong = (at: number, member: string, message: string) =>
  problem('invalid_body', {
    detail: 'Nothing was imported. See errors.',
    errors: [{ pointer: pointerOf(['history', at, member]), message }],
  })

const versionOf = ({ at: _, by, operation = 'import', ...row }: Row): KeptVersion => ({
  ...row,
  operation,
  by: by ?? undefined,
})

/** The current version in the history, with the text of the memory. */
function currentOf(row: Row, memory: Row): KeptVersion {
  for (const member of ['id', 'createdAt', 'updatedAt'] as const) {
    if (row[member] !== memory[member]) throw wrong(row.at, member, 'differs from the memory')
  }
  if (row.content || row.operation === 'delete') {
    throw wrong(row.at, 'text', 'must be absent: the memory already has the text of this version')
  }
  return { ...versionOf(row), content: memory.content, protected: memory.protected }
}

function earlierOf(row: Row): KeptVersion {
  if (row.content || row.operation === 'delete') return versionOf(row)
  throw wrong(row.at, 'text', 'is missing, and no memory is at this version')
}

/** The versions of a key with a history; `memory`: its current memory. */
async function* withHistory(history: List, key: string, memory: Row | undefined) {
  let last: Row | undefined
  for (let row = history.peek(); row?.key === key; row = history.peek()) {
    if (memory && row.version > memory.version) {
      throw wrong(row.at, 'version', 'is later than the version of the memory')
    }
    yield row.version === memory?.version ? currentOf(row, memory) : earlierOf(row)
    last = row
    await history.take()
  }
  if (!last || (memory ? last.version === memory.version : last.operation === 'delete')) return
  const message = memory ? 'ends before the version of the memory' : 'must end with a delete'
  throw wrong(last.at, memory ? 'version' : 'operation', message)
}

async function* merged(memories: List, history: List, by: Author): AsyncGenerator<KeptVersion> {
  for (;;) {
    const memory = memories.peek()
    const kept = history.peek()
    if (kept && (!memory || kept.key < memory.key)) {
      yield* withHistory(history, kept.key, undefined)
      continue
    }
    if (!memory) return
    if (kept?.key === memory.key) yield* withHistory(history, memory.key, memory)
    else yield { ...versionOf(memory), by }
    await memories.take()
  }
}

const sizeOf = ({ content }: KeptVersion): number =>
  ROW_BYTES + (content ? content.text.length + content.metadata.length : 0)

async function* batches(versions: AsyncIterable<KeptVersion>) {
  let batch: KeptVersion[] = []
  let size = 0
  for await (const version of versions) {
    batch.push(version)
    size += sizeOf(version)
    if (size < BATCH_BYTES) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

async function* read({ memories, history }: Received, by: Author) {
  const lists = [await openList(memories), await openList(history)] as const
  try {
    yield* batches(merged(...lists, by))
  } finally {
    for (const list of lists) await list.close()
  }
}

/** `by`: the importer, as the author of memories without a history. Throws `invalid_body`. */
export const sourceOf = (received: Received, by: Author): ImportSource => ({
  [Symbol.asyncIterator]: () => read(received, by),
})
