/** Reads an import as it arrives: validated in pieces, and spooled until it is complete. */
import { type FieldError, Problem, problem } from '../../errors.ts'
import { readJsonPieces } from '../../http/body.ts'
import type { Call } from '../../http/call.ts'
import { endOfJson, parseStrictJson } from '../../http/json.ts'
import { pointerOf } from '../../json/pointer.ts'
import { unknownName } from '../../pipeline/validate.ts'
import { nextTurn } from '../../turns.ts'
import { checkEvent, head, headOf, type Row, rowOf } from './elements.ts'
import type { Import, SpooledList } from './imports.ts'
import { type Part, splitObject } from './split-json.ts'

const LISTS = new Set(['memories', 'history', 'events'])

const MEMBERS = new Set([...Object.keys(head.shape), ...LISTS])

/** The longest row: text and metadata with all characters escaped, plus the other members. */
const MAX_PART = 6 * (16_384 + 4_096) + 4_096

/** At most this many errors are reported. */
const MOST_FAULTS = 20

/**
 * Characters of all pointers together, because an unknown member's name may be as long as a row.
 */
const MOST_POINTED = 4_096

/** Characters that are parsed before the event loop gets a turn. */
const TURN = 16_384

export interface Received {
  readonly memories: SpooledList
  readonly history: SpooledList
}

/** Where a part stops being JSON. */
function whereBroken({ source, from }: Part): string {
  const at = endOfJson(source)
  if (at === undefined) return `is not JSON: it begins at byte ${from}`
  return `stops being JSON at byte ${from + Buffer.byteLength(source.slice(0, at))}`
}

/** The error of a part, with a pointer from the root. Rethrows other errors. */
function faultsOf(
  error: unknown,
  path: readonly PropertyKey[],
  part?: Part,
): readonly FieldError[] {
  const isOfBody =
    error instanceof Problem && (error.code === 'invalid_body' || error.code === 'malformed_json')
  if (!isOfBody) throw error
  const at = pointerOf(path)
  const found = error.extras.errors ?? [{ pointer: '', message: error.message }]
  const isBroken = error.code === 'malformed_json' && found.every(({ pointer }) => pointer === '')
  if (part && isBroken) return [{ pointer: at, message: whereBroken(part) }]
  return found.map(({ pointer, message }) => ({ pointer: `${at}${pointer}`, message }))
}

function gatherFaults() {
  const faults: FieldError[] = []
  let pointed = 0
  const refuse = () => {
    const errors = faults.slice(0, MOST_FAULTS)
    throw problem('invalid_body', { detail: 'Nothing was imported. See errors.', errors })
  }
  return {
    add(...more: readonly FieldError[]): void {
      faults.push(...more)
      for (const { pointer } of more) pointed += pointer.length
      if (faults.length >= MOST_FAULTS || pointed >= MOST_POINTED) refuse()
    },
    end(): void {
      if (faults.length > 0) refuse()
    },
  }
}

type Faults = ReturnType<typeof gatherFaults>

/** The order of rows in a list: by key, then by version. */
const follows = (row: Row, last: Row | undefined, isHistory: boolean): boolean =>
  last === undefined ||
  row.key > last.key ||
  (isHistory && row.key === last.key && row.version > last.version)

/** Takes the elements of a list in order. */
function takeList(spooled: SpooledList, faults: Faults, name: string, now: number) {
  let last: Row | undefined
  let count = 0
  const message = 'must come after the entry before it: an export is ordered and has no duplicates'
  return {
    count: () => count,
    async take(part: Part): Promise<void> {
      count++
      try {
        const row = rowOf(part, now)
        if (follows(row, last, name === 'history')) await spooled.add(JSON.stringify(row))
        else faults.add({ pointer: pointerOf([name, part.index ?? 0, 'key']), message })
        last = row
      } catch (error) {
        faults.add(...faultsOf(error, [name, part.index ?? 0], part))
      }
    },
  }
}

function passEvent(part: Part, faults: Faults): void {
  try {
    checkEvent(part)
  } catch (error) {
    faults.add(...faultsOf(error, ['events', part.index ?? 0], part))
  }
}

/** Members besides the lists: parsed when they have arrived, and validated together. */
function takeHead(faults: Faults, now: number) {
  const sent: Record<string, unknown> = {}
  const met = new Set<string>()

  function judge(count: number): void {
    try {
      const { memoryCount } = headOf(sent, now)
      if (memoryCount === count) return
      const message = `is not the number of memories, which is ${count}`
      faults.add({ pointer: '/memoryCount', message })
    } catch (error) {
      faults.add(...faultsOf(error, []))
    }
  }

  return {
    /** Unknown members are refused before their value is read. */
    meetName(name: string): void {
      met.add(name)
      if (MEMBERS.has(name)) return
      faults.add({ pointer: pointerOf([name]), message: unknownName(name, [...MEMBERS]) })
      faults.end()
    },
    take(part: Part): void {
      const { name, source } = part
      if (LISTS.has(name)) {
        faults.add({ pointer: `/${name}`, message: 'must be a list' })
        return
      }
      try {
        sent[name] = parseStrictJson(source)
      } catch (error) {
        faults.add(...faultsOf(error, [name], part))
        // Otherwise it would also be reported as missing.
        faults.end()
      }
    },
    end(count: number): void {
      if (!met.has('memories')) {
        faults.add({ pointer: '/memories', message: 'is missing: it must be a list' })
      }
      judge(count)
    },
  }
}

/**
 * `capBytes`: of the body. Throws `malformed_json` or `invalid_body`, and errors of the transfer.
 */
export async function receive(
  call: Call,
  under: Import,
  capBytes: number,
  now: number,
): Promise<Received> {
  const faults = gatherFaults()
  const spooled = { memories: under.spoolList(), history: under.spoolList() }
  const memories = takeList(spooled.memories, faults, 'memories', now)
  const history = takeList(spooled.history, faults, 'history', now)
  const head = takeHead(faults, now)
  const { meetName } = head
  const splitter = splitObject({ lists: LISTS, maxLength: MAX_PART, meetName })

  async function take(part: Part): Promise<void> {
    if (part.index === undefined) head.take(part)
    else if (part.name === 'events') passEvent(part, faults)
    else await (part.name === 'history' ? history : memories).take(part)
  }

  let taken = 0
  for await (const piece of readJsonPieces(call, capBytes)) {
    for (const part of splitter.push(piece)) {
      await take(part)
      taken += part.source.length
      if (taken < TURN) continue
      taken = 0
      await nextTurn()
    }
  }
  splitter.end()
  head.end(memories.count())
  faults.end()
  await spooled.memories.end()
  await spooled.history.end()
  return spooled
}
