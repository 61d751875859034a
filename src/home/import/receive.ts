/** A file that is being sent: looked through as it arrives, and put away for when it has proved whole. */
import { type Fault, Problem, problem } from '../../errors.ts'
import { readJsonPieces } from '../../http/body.ts'
import type { Call } from '../../http/call.ts'
import { parseStrictJson } from '../../http/json.ts'
import { type Part, splitObject } from '../../http/split-json.ts'
import { pointerOf } from '../../json/pointer.ts'
import { validateBody } from '../../pipeline/validate.ts'
import { head, type Row, rowOf } from './elements.ts'
import type { Import, Shelf } from './imports.ts'

const LISTS = new Set(['memories', 'history'])

/** The longest text and metadata, all of their characters escaped, and what is said beside. */
const MAX_PART = 6 * (16_384 + 4_096) + 4_096

/** Nobody mends more at once. */
const MOST_FAULTS = 20

export interface Received {
  readonly memories: Shelf
  readonly history: Shelf
}

/** What is wrong with a part, from the whole body on. Throws what is not wrong with it. */
function faultsOf(error: unknown, path: readonly PropertyKey[]): readonly Fault[] {
  const isOfBody =
    error instanceof Problem && (error.code === 'invalid_body' || error.code === 'malformed_json')
  if (!isOfBody) throw error
  const at = pointerOf(path)
  const found = error.extras.errors ?? [{ pointer: '', message: error.message }]
  return found.map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
}

function gatherFaults() {
  const faults: Fault[] = []
  const refuse = () => {
    const errors = faults.slice(0, MOST_FAULTS)
    throw problem('invalid_body', { detail: 'Nothing was imported: see errors.', errors })
  }
  return {
    add(...more: readonly Fault[]): void {
      faults.push(...more)
      if (faults.length >= MOST_FAULTS) refuse()
    },
    end(): void {
      if (faults.length > 0) refuse()
    },
  }
}

type Faults = ReturnType<typeof gatherFaults>

/** Which of two rows of a list comes first; they are ordered by key, and of each key by version. */
const follows = (row: Row, last: Row | undefined, isHistory: boolean): boolean =>
  last === undefined ||
  row.key > last.key ||
  (isHistory && row.key === last.key && row.version > last.version)

/** Takes the elements of a list in their order. */
function takeList(shelf: Shelf, faults: Faults, name: string) {
  let last: Row | undefined
  let count = 0
  const message = 'must come after what is before it: an export is ordered, and says nothing twice'
  return {
    count: () => count,
    async take(part: Part): Promise<void> {
      count++
      try {
        const row = rowOf(part)
        if (follows(row, last, name === 'history')) await shelf.add(JSON.stringify(row))
        else faults.add({ pointer: pointerOf([name, part.index ?? 0, 'key']), message })
        last = row
      } catch (error) {
        faults.add(...faultsOf(error, [name, part.index ?? 0]))
      }
    },
  }
}

/** Members beside the lists, as they are written. */
function readHead(members: ReadonlyMap<string, string>, count: number, faults: Faults): void {
  const sent: Record<string, unknown> = {}
  try {
    for (const [name, source] of members) sent[name] = parseStrictJson(source)
    const { memoryCount } = validateBody(head, sent)
    if (memoryCount === count) return
    const message = `is not the number of memories, of which there are ${count}`
    faults.add({ pointer: '/memoryCount', message })
  } catch (error) {
    faults.add(...faultsOf(error, []))
  }
}

/** `capBytes`: of the body. Throws `malformed_json` or `invalid_body`, and what a body is refused for. */
export async function receive(call: Call, under: Import, capBytes: number): Promise<Received> {
  const faults = gatherFaults()
  const shelves = { memories: under.shelf(), history: under.shelf() }
  const memories = takeList(shelves.memories, faults, 'memories')
  const history = takeList(shelves.history, faults, 'history')
  const members = new Map<string, string>()
  const splitter = splitObject({ lists: LISTS, maxLength: MAX_PART })

  for await (const piece of readJsonPieces(call, capBytes)) {
    for (const part of splitter.push(piece)) {
      if (part.index === undefined) members.set(part.name, part.source)
      else await (part.name === 'history' ? history : memories).take(part)
    }
  }
  splitter.end()
  for (const name of LISTS) {
    if (members.delete(name)) faults.add({ pointer: `/${name}`, message: 'must be a list' })
  }
  readHead(members, memories.count(), faults)
  faults.end()
  await shelves.memories.end()
  await shelves.history.end()
  return shelves
}
