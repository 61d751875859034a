/**
 * What a program has to compute of a log, in one pass: the chains of its homes, what each text was
 * committed to, and whether texts and metadata are ones that can be written.
 */
import { fields } from '../../fields.ts'
import { canonicalEvent, contentOf, hashAfter } from '../chain.ts'
import { isPinned } from '../change.ts'
import type { Violation } from '../port/check.ts'
import { type EventRow, eventOf } from '../rows.ts'
import { NAMED } from './promises.ts'

export interface HomeRow {
  agent_id: string
  first: number
  last: number
  head: Uint8Array
  base: Uint8Array
}

/** `author` and `created_at`: the event's. */
export interface LogRow extends Omit<EventRow, 'type'> {
  agent_id: string
  event: EventRow['type'] | null
  /** Of the version. */
  writer: string | null
  /** Null if the row holds no version. */
  operation: string | null
  bytes: number
  size: number
  salt: Uint8Array | null
  text: string | null
  metadata: string | null
  /** Of the memory whose current version it is. */
  pinned: boolean | number | null
  /**
   * The row, and that of the version before it: of an engine that before schema 27 kept what an import
   * brought in rows before those of its events.
   */
  n?: number
  previous?: number | null
}

/** The memory's, where the row `l` holds its current version. */
export const PINNED = `(SELECT m.pinned FROM memories m
  WHERE m.agent_id = l.agent_id AND m.key = l.key AND m.n = l.n AND NOT m.deleted)`

type Fault = (what: string, place: string) => void

const EVENT = 'an event is not the one that was chained, or one is missing'
const END = 'the chain of a home does not end at its head'
const COMMITTED = 'a text or its metadata differ from what its event committed to'
const SIZES = 'a version’s sizes differ from what it holds'
const WRITTEN = 'a version’s text, metadata or author are none that could be written'
const LEFTOVER = 'a text, a salt or a hash is in a row that holds no version, or no event'
const PINS = 'a memory is pinned and does not say so, or says so and is not'

const same = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b)

const placeOf = ({ agent_id, id, key }: LogRow): string => `${agent_id} ${key ?? ''} event=${id}`

export function gatherFaults() {
  const found = new Map<string, { count: number; places: string[] }>()
  return {
    fault(what: string, place: string): void {
      const of = found.get(what) ?? { count: 0, places: [] }
      found.set(what, of)
      if (of.count++ < NAMED) of.places.push(place)
    },
    all: (): Violation[] =>
      Array.from(found, ([what, { count, places }]) => ({ fault: what, count, places })),
  }
}

/** What no program of ours wrote may not be readable. */
function canonicalOf(row: LogRow, type: EventRow['type']): string {
  try {
    return canonicalEvent(eventOf({ ...row, type }))
  } catch {
    return ''
  }
}

function followChains(homes: Iterable<HomeRow>, fault: Fault) {
  const states = new Map(
    Array.from(homes, (home) => {
      const start = { id: home.first - 1, hash: home.base, isBroken: false }
      return [home.agent_id, { home, ...start }]
    }),
  )
  return {
    isHome: (agentId: string): boolean => states.has(agentId),
    meet(row: LogRow): void {
      const state = states.get(row.agent_id)
      if (!state || row.event === null || row.id < state.home.first) return
      const hash = hashAfter(state.hash, canonicalOf(row, row.event))
      const isNext = same(row.hash, hash)
      if (!isNext) fault(EVENT, placeOf(row))
      // From what the row says, so that each fault is named once.
      state.id = row.id
      state.hash = row.hash ?? hash
      state.isBroken ||= !isNext
    },
    end(): void {
      for (const { home, id, hash, isBroken } of states.values()) {
        const isEnd = id === home.last && same(home.head, hash)
        if (!isBroken && !isEnd) fault(END, `${home.agent_id} event=${id}`)
      }
    },
  }
}

function checkCommitments(fault: Fault) {
  /** What imports before schema 27 brought last of each memory, by its home and key. */
  const imported = new Map<string, Pick<LogRow, 'n' | 'version' | 'content'>>()
  /** Where each is in `imported`. */
  const places = new Map<number, string>()

  /** An earlier version may have been made under a key that is now another memory’s. */
  function release({ previous }: LogRow): void {
    const before = places.get(previous ?? 0) ?? ''
    if (imported.get(before)?.n === previous) imported.delete(before)
  }

  function hold({ n, version }: LogRow, under: string, content: LogRow['content']): void {
    if (n === undefined) return
    imported.set(under, { n, version, content })
    places.set(n, under)
  }

  function checkImported(row: LogRow, under: string): void {
    const { content, version } = row
    const held = imported.get(under)
    const isOf = content !== null && held?.version === version
    if (isOf && !same(held.content, content)) fault(COMMITTED, placeOf(row))
    imported.delete(under)
  }

  return (row: LogRow): void => {
    const { agent_id, event, key, operation, salt, text, metadata, content } = row
    const under = `${agent_id} ${key}`
    if (operation === null && event === 'import') checkImported(row, under)
    if (operation === null || (text === null) !== (metadata === null)) return
    const isRight =
      salt && text !== null && metadata !== null
        ? salt.length === content?.length && same(content, contentOf(salt, { text, metadata }))
        : content === null && salt === null
    if (!isRight) fault(COMMITTED, placeOf(row))
    release(row)
    if (event === null) hold(row, under, isRight ? content : null)
  }
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const octets = (text: string | null): number => Buffer.byteLength(text ?? '')

function canBeWritten({ operation, writer, text, metadata }: LogRow): boolean {
  if (writer !== null && !isObject(writer)) return false
  if (operation === 'delete' || text === null || metadata === null) {
    return operation === 'delete' && text === null && metadata === null
  }
  return (
    octets(text) >= 1 &&
    octets(text) <= fields.text.maxBytes &&
    octets(metadata) <= fields.metadata.maxBytes &&
    isObject(metadata)
  )
}

function checkVersion(row: LogRow, fault: Fault): void {
  const { agent_id, key, bytes, size, text, metadata, pinned } = row
  if (bytes !== octets(text) || size !== bytes + octets(metadata)) fault(SIZES, placeOf(row))
  if (!canBeWritten(row)) fault(WRITTEN, placeOf(row))
  else if (pinned !== null && Boolean(pinned) !== isPinned(metadata ?? '{}')) {
    fault(PINS, `${agent_id} ${key}`)
  }
}

/** What was erased must not be in a row that still tells of it. */
const isLeftOver = ({ event, operation, hash, salt, text, metadata }: LogRow): boolean =>
  (event === null && hash !== null) ||
  (operation === null && (salt !== null || text !== null || metadata !== null))

/** Of these homes: meets each row of their logs in order, and has an end. */
export function checkContents(homes: Iterable<HomeRow>, fault: Fault) {
  const chains = followChains(homes, fault)
  const checkCommitment = checkCommitments(fault)
  return {
    meet(row: LogRow): void {
      if (!chains.isHome(row.agent_id)) return
      if (row.operation !== null) checkVersion(row, fault)
      if (isLeftOver(row)) fault(LEFTOVER, placeOf(row))
      checkCommitment(row)
      chains.meet(row)
    },
    end: chains.end,
  }
}
