/** The tables of one home on the embedded engine: whatever was done, everything in them agrees. */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { expect } from 'vitest'
import type { HomeBounds } from '../../../src/store/port/store.ts'
import { transact } from '../../../src/store/sqlite/engine/connection.ts'
import { prepareSweep } from '../../../src/store/sqlite/memories/sweep.ts'
import { surplusOf } from '../../../src/store/surplus.ts'
import type { PlainHome } from './plain-home.ts'

interface Row {
  readonly n: number
  readonly id: number
  readonly before: number | null
  readonly event: string | null
  readonly operation: string | null
  readonly previous: number | null
  readonly version: number
  readonly size: number
  readonly bytes: number
  readonly text: string | null
  readonly metadata: string | null
}

interface Stand {
  readonly key: string
  readonly id: string
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
  readonly deleted: number
  readonly size: number
  readonly pinned: number
  readonly change: number
  readonly kept: number
  readonly n: number | null
}

/** All rows that a table has of one home. */
type RowsOf = <T>(table: string) => T[]

/** Of the homes of a database. */
export function tablesOf(db: DatabaseSync): (agentId: string) => RowsOf {
  const selects = new Map<string, StatementSync>()
  return (agentId) =>
    <T>(table: string) => {
      const select = selects.get(table) ?? db.prepare(`SELECT * FROM ${table} WHERE agent_id = ?`)
      selects.set(table, select)
      return select.all(agentId) as T[]
    }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

const octets = (text: string | null): number => Buffer.byteLength(text ?? '')

/** From the newest on, each below the one before it. */
function chainOf({ n }: Stand, rows: ReadonlyMap<number, Row>): Row[] {
  const chain: Row[] = []
  for (let at = n; at !== null; ) {
    const row = rows.get(at)
    if (!row) break
    chain.push(row)
    at = row.previous
  }
  const isBelow = (row: Row, above: Row | undefined): boolean =>
    !above || (row.version < above.version && row.id < above.id)
  const astray = chain.find((row, at) => !isBelow(row, chain[at - 1]))
  if (astray) throw new Error(`what lies at ${astray.n} is not below what lies above it`)
  return chain
}

const isMeasured = ({ bytes, size, text, metadata }: Row): boolean =>
  bytes === octets(text) && size === octets(text) + octets(metadata)

/** What is not as it must be: there are many, and to expect each thing of each takes its time. */
function faultsOf(stand: Stand, chain: readonly Row[], { versions }: HomeBounds): string[] {
  const [newest] = chain
  const isPinned = Boolean(JSON.parse(newest?.metadata ?? '{}').pinned)
  const holds = {
    'none is kept where none lies': (stand.n === null) === (stand.kept === 0),
    // What was given up for the home's bytes is counted until the memory changes again.
    'all that lie are counted': stand.kept >= chain.length,
    'not too many are kept': versions === 0 || chain.length < versions + surplusOf(versions),
    'the newest is its version': stand.n === null || newest?.version === stand.version,
    'the newest event is its change': !newest?.event || newest.id === stand.change,
    'a living one has a text': stand.deleted !== 0 || typeof newest?.text === 'string',
    'its size is the newest’s': stand.size === (stand.deleted ? 0 : newest?.size),
    'it is pinned by its metadata': stand.pinned === (isPinned ? 1 : 0),
    'each is measured': chain.every(isMeasured),
  }
  return Object.entries(holds).flatMap(([what, held]) => (held ? [] : [`${stand.key}: ${what}`]))
}

interface HomeRow {
  readonly memories: number
  readonly bytes: number
  readonly history: number
  readonly deleted: number
  readonly floor: number
  readonly last_event: number
  readonly first_event: number
  readonly tail: number | null
  readonly oldest: number
}

const byNumber = (a: number, b: number): number => a - b

interface Place {
  readonly id: number
  readonly n: number
}

/** Each row is in the index, or hangs on the tail; and none is there for nothing. */
function checkLog(home: HomeRow, rows: ReadonlyMap<number, Row>, indexed: readonly Place[]): void {
  const isNeeded = ({ id, n }: Place): boolean => {
    const row = rows.get(n)
    return row?.id === id && (row.operation !== null || id >= home.first_event)
  }
  expect(indexed.filter((each) => !isNeeded(each))).toEqual([])
  const tail: number[] = []
  for (let n = home.tail; n !== null; n = rows.get(n)?.before ?? null) tail.push(n)
  expect(tail.filter((n) => rows.get(n)?.event !== null).length).toBeLessThan(64)
  const found = [...indexed.map(({ n }) => n), ...tail].toSorted(byNumber)
  expect(found).toEqual([...rows.keys()].toSorted(byNumber))
}

function checkEvents(home: HomeRow, rows: ReadonlyMap<number, Row>, most: number): void {
  const { first_event: first, last_event: last } = home
  const events = [...rows.values()].filter(({ event, id }) => event !== null && id >= first)
  const ids = events.map(({ id }) => id).toSorted(byNumber)
  expect(ids).toEqual(ids.map((_, at) => first + at))
  expect(ids.length).toBe(last - first + 1)
  expect(ids.length).toBeGreaterThanOrEqual(Math.min(last, most || last))
  if (most > 0) expect(ids.length).toBeLessThan(most + 64)
}

/** Everything in the tables of one home agrees. */
export function checkHome(rowsOf: RowsOf, limits: HomeBounds): void {
  const [home] = rowsOf<HomeRow>('homes')
  if (!home) throw new Error('the home is not there')
  const stands = rowsOf<Stand>('memories')
  const log = new Map(rowsOf<Row>('log').map((row) => [row.n, row]))
  checkLog(home, log, rowsOf<Place>('log_index'))
  checkEvents(home, log, limits.events)

  const versions = [...log.values()].filter(({ operation }) => operation !== null)
  const rows = new Map(versions.map((row) => [row.n, row]))
  const chains = stands.map((stand) => chainOf(stand, rows))
  expect(stands.flatMap((stand, at) => faultsOf(stand, chains[at] ?? [], limits))).toEqual([])
  const reached = chains.flat().map(({ n }) => n)
  expect(reached.toSorted(byNumber)).toEqual([...rows.keys()].toSorted(byNumber))
  const current = new Set(stands.map(({ n }) => n))
  expect(versions.filter(({ n, id }) => !current.has(n) && id < home.oldest)).toEqual([])

  const living = stands.filter(({ deleted }) => deleted === 0)
  const bytes = sum(living.map(({ size }) => size))
  const history = sum(versions.map(({ size }) => size)) - bytes
  const deleted = stands.length - living.length
  expect(home).toMatchObject({ memories: living.length, bytes, history, deleted })
  if (limits.bytes > 0) expect(bytes + history).toBeLessThanOrEqual(limits.bytes)
}

/** Gives up what is over in the whole log from a row on. */
export function sweepFrom(db: DatabaseSync, n: number, versions: number): void {
  const { look } = prepareSweep(db, versions, n)
  transact(db, () => {
    while (look());
  })
}

/** Of each memory the newest are there, as many as are kept or more, with none left out. */
export function checkVersions(rowsOf: RowsOf, { lies }: PlainHome, { versions }: HomeBounds): void {
  const rows = new Map(rowsOf<Row>('log').map((row) => [row.n, row]))
  for (const stand of rowsOf<Stand>('memories')) {
    const is = chainOf(stand, rows).map(({ version }) => version)
    const made = [...(lies.get(stand.key)?.versions.keys() ?? [])].toSorted((a, b) => b - a)
    expect(is).toEqual(made.slice(0, is.length))
    expect(is.length).toBeGreaterThanOrEqual(
      versions === 0 ? made.length : Math.min(versions, made.length),
    )
  }
}

/** What lies under each key is what the plain home has there. */
export function checkHeads(rowsOf: RowsOf, { lies }: PlainHome): void {
  const is = rowsOf<Stand>('memories').map(({ key, ...stand }) => {
    const { id, version, created_at: createdAt, updated_at: updatedAt, deleted } = stand
    return [key, { id, version, createdAt, updatedAt, deleted: deleted === 1 }]
  })
  const ought = [...lies].map(([key, { head }]) => {
    const { id, version, createdAt, updatedAt, deleted } = head
    return [key, { id, version, createdAt, updatedAt, deleted }]
  })
  expect(Object.fromEntries(is)).toEqual(Object.fromEntries(ought))
}
