/** The states that memories had before something changed them. */
import type { EventType } from '../port/events.ts'
import type { Memory } from '../port/memories.ts'
import { ask, type Statement, statement, type Verb } from './verb.ts'

/** Numbers below zero that each import before schema 27 had for the versions that it brought. */
const BLOCK = 1_000_000_000

/** A key, and the memory that it had. */
export interface Line {
  readonly key: string
  /** The memory's key now; undefined if its versions are gone. */
  readonly now: string | undefined
  /** The version that the first change made: earlier ones are from before. */
  readonly before: number
  /** The event of the first change. */
  readonly type: EventType
  readonly eventId: number
  /** Whether there was a memory, by the last event before; undefined if none is retained. */
  readonly wasThere: boolean | undefined
  /** An import is taken back: if the memory is protected, that is the import's doing. */
  readonly unprotects?: boolean
}

export type Then = Pick<Memory, 'id' | 'createdAt' | 'text' | 'metadata'>

/** A version, under the key that its memory has now. */
export interface PlaceNow {
  readonly key: string
  readonly version: number
}

export interface StateBefore {
  readonly key: string
  /** Undefined: there was no memory. `gone`: it is not retained. */
  readonly was: Then | 'gone' | undefined
  /** Where the version of then is now. */
  readonly place?: PlaceNow | undefined
  /** The row of the version of then. */
  readonly n?: number | undefined
  /** As it was already, but perhaps protected. */
  readonly isSame: boolean
  readonly isProtected: boolean
}

/** What is under a key, with nulls if it was never used, and the home's floor. */
interface HeadRow {
  floor: number
  n: number | null
  deleted: boolean | number | null
  protected: boolean | number | null
}

const headOf = statement<HeadRow>(`
  SELECT h.floor, m.n, m.deleted, m.protected FROM homes h
  LEFT JOIN memories m ON m.agent_id = h.agent_id AND m.key = $2 WHERE h.agent_id = $1`)

/** A version without its text. */
export interface PlacedVersionRow {
  n: number
  version: number
  previous: number | null
  operation: string
  created_at: number
  updated_at: number
  /** The number of its event; below zero for what imports brought before schema 27. */
  place: number
  event: string | null
  /** Whether an import brought it as it was. */
  brought: boolean | number
}

interface TextRow {
  id: string
  created_at: number
  text: string | null
  metadata: string | null
}

const textAt = statement<TextRow>(
  `SELECT memory_id AS id, created_at, text, metadata FROM log WHERE agent_id = $1 AND n = $2`,
)

const blockOf = ({ place }: PlacedVersionRow): number => Math.floor(place / BLOCK)

/**
 * Whether an import of before schema 27, which made one event for all versions of a key, brought the
 * first version with earlier ones.
 */
const isBrought = (first: PlacedVersionRow, older: PlacedVersionRow): boolean =>
  older.place < 0 && (first.place > 0 ? Boolean(first.brought) : blockOf(first) === blockOf(older))

/** Changes that create a memory if there is none. */
const MAY_CREATE: ReadonlySet<EventType> = new Set(['write', 'append', 'restore'])

/** A memory is created above the highest version of any forgotten tombstone, the floor. */
function isCreated({ before, type }: Line, first: PlacedVersionRow | undefined, floor: number) {
  if (before === 1) return true
  if (!first) return false
  if (type === 'import') return first.previous === null
  return MAY_CREATE.has(type) && before - 1 <= floor && first.created_at === first.updated_at
}

/** `first`: the version that the first change made. `older`: the newest before it. */
interface Found {
  readonly first: PlacedVersionRow | undefined
  readonly older: PlacedVersionRow | undefined
}

/** The version of then, `gone`, or undefined if there was no memory. */
function versionThen(
  line: Line,
  { first, older }: Found,
  floor: number,
): PlacedVersionRow | 'gone' | undefined {
  if (line.wasThere === false) return undefined
  const otherwise = !line.wasThere && isCreated(line, first, floor) ? undefined : 'gone'
  // The version that a rename makes has the text that was there.
  if (line.type === 'rename') return first ?? otherwise
  if (!older) return otherwise
  if (!line.wasThere && line.type === 'import' && first && isBrought(first, older)) return undefined
  if (older.version !== line.before - 1) return otherwise
  return older.operation === 'delete' ? undefined : older
}

export interface VersionStatements {
  /** The version in the row $2 of the agent $1, if it is one. */
  readonly at: Statement<PlacedVersionRow>
  /** The version that the event $2 of the agent $1 made, if it is in the event's row. */
  readonly madeBy: Statement<PlacedVersionRow>
}

function* textOf(agentId: string, n: number | null): Verb<Then | undefined> {
  const [row] = n === null ? [] : yield* ask(textAt, agentId, n)
  if (!row || row.text === null || row.metadata === null) return undefined
  return { id: row.id, createdAt: row.created_at, text: row.text, metadata: row.metadata }
}

export function stateReads({ at, madeBy }: VersionStatements) {
  function* find(agentId: string, line: Line): Verb<Found> {
    const [first] = yield* ask(madeBy, agentId, line.eventId)
    if (first?.version !== line.before) return yield* search(agentId, line)
    if (first.previous === null) return { first, older: undefined }
    const [older] = yield* ask(at, agentId, first.previous)
    return { first, older }
  }

  /** From the newest version back: where the event's row is not, or no longer, the version's. */
  function* search(agentId: string, { now = '', before }: Line): Verb<Found> {
    const [head] = yield* ask(headOf, agentId, now)
    let first: PlacedVersionRow | undefined
    for (let n = head?.n ?? null; n !== null; ) {
      const [row] = yield* ask(at, agentId, n)
      if (!row) break
      if (row.version < before) return { first, older: row }
      if (row.version === before) first = row
      n = row.previous
    }
    return { first, older: undefined }
  }

  function* stateBefore(agentId: string, line: Line): Verb<StateBefore> {
    const { key } = line
    const [head] = yield* ask(headOf, agentId, key)
    const current = head && !head.deleted ? yield* textOf(agentId, head.n) : undefined
    const isProtected = Boolean(head?.protected)
    const row = versionThen(line, yield* find(agentId, line), head?.floor ?? 0)
    if (row === 'gone') return { key, was: 'gone', isSame: false, isProtected }
    const was = row && (yield* textOf(agentId, row.n))
    if (row && !was) return { key, was: 'gone', isSame: false, isProtected }
    const isSame = was?.text === current?.text && was?.metadata === current?.metadata
    const place = row && { key: line.now ?? key, version: row.version }
    return { key, was, place, n: row?.n, isSame, isProtected }
  }

  return { stateBefore }
}
