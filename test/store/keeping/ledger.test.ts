/** On the embedded engine: what is counted of a home, and what its bounds leave of its versions. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/home.ts'
import type { Change } from '../../../src/store/port/keeping/memories.ts'
import type { HomeBounds } from '../../../src/store/port/store.ts'
import { openWriter, transact } from '../../../src/store/sqlite/engine/connection.ts'
import { prepareWrites, type Writes } from '../../../src/store/sqlite/engine/writes.ts'
import { verifyDatabase } from '../../../src/store/sqlite/rest/verify.ts'
import { migrate } from '../../../src/store/sqlite/schema/migrations.ts'
import { temporaryDirectory } from '../../harness.ts'
import { unbounded } from '../../unbounded.ts'
import { NOON, newBirth, noLimits } from '../fixture.ts'
import { type PlainHome, plainHome } from './plain-home.ts'
import { changeOf, erasureOf, type Round, rounds, type Step } from './steps.ts'

/** A longer hunt is a larger number here. */
const HOMES = 40

/** In the tests' names; a failure repeats it with the shortest history that fails. */
const seed = Date.now() & 0x7fffffff

const directory = temporaryDirectory()
let db: DatabaseSync
beforeAll(() => {
  db = openWriter(join(directory, 'home.db'))
  migrate(db, directory)
})
afterAll(() => {
  db.close()
  rmSync(directory, { recursive: true })
})

const bounds: fc.Arbitrary<HomeBounds> = fc.record({
  memories: fc.constantFrom(0, 2),
  bytes: fc.constantFrom(0, 120, 400),
  versions: fc.constantFrom(0, 1, 2, 5),
  events: fc.constantFrom(0, 1, 64),
})

function newHome(verbs: Writes['verbs']): Identity {
  const birth = newBirth()
  transact(db, () => verbs.bear(birth, noLimits, NOON))
  const { agentId, operatorTokenHash: tokenHash } = birth
  return { agentId, kind: 'operator', tokenHash, status: 'active' }
}

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
  readonly version: number
  readonly deleted: number
  readonly size: number
  readonly kept: number
  readonly n: number | null
}

const selects = new Map<string, StatementSync>()

function rowsOf<T>(table: string, agentId: string): T[] {
  const select = selects.get(table) ?? db.prepare(`SELECT * FROM ${table} WHERE agent_id = ?`)
  selects.set(table, select)
  return select.all(agentId) as T[]
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
  expect(chain.filter((row, at) => !isBelow(row, chain[at - 1]))).toEqual([])
  return chain
}

function checkMemory(stand: Stand, chain: readonly Row[], { versions }: HomeBounds): void {
  const [newest] = chain
  expect(stand.n === null).toBe(stand.kept === 0)
  // What was given up for the home's bytes is counted until the memory changes again.
  expect(stand.kept).toBeGreaterThanOrEqual(chain.length)
  if (versions > 0) expect(chain.length).toBeLessThan(versions + 8)
  if (stand.n !== null) expect(newest?.version).toBe(stand.version)
  if (stand.deleted === 0) expect(newest?.text).toBeTypeOf('string')
  expect(stand.size).toBe(stand.deleted ? 0 : newest?.size)
  const isMeasured = ({ bytes, size, text, metadata }: Row): boolean =>
    bytes === octets(text) && size === octets(text) + octets(metadata)
  expect(chain.filter((row) => !isMeasured(row))).toEqual([])
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

/** Each row is in the index, or hangs on the tail; and none is there for nothing. */
function checkLog(home: HomeRow, rows: ReadonlyMap<number, Row>, agentId: string): void {
  const indexed = rowsOf<{ id: number; n: number }>('log_index', agentId)
  const isNeeded = ({ id, n }: { id: number; n: number }): boolean => {
    const row = rows.get(n)
    const isShown = row?.event !== null && id >= home.first_event
    return row?.id === id && (row.operation !== null || isShown)
  }
  expect(indexed.filter((each) => !isNeeded(each))).toEqual([])
  const tail: number[] = []
  for (let n = home.tail; n !== null; n = rows.get(n)?.before ?? null) tail.push(n)
  expect(tail.length).toBeLessThan(64)
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
function checkHome({ agentId }: Identity, limits: HomeBounds): void {
  const [home] = rowsOf<HomeRow>('homes', agentId)
  if (!home) throw new Error('the home is not there')
  const stands = rowsOf<Stand>('memories', agentId)
  const log = new Map(rowsOf<Row>('log', agentId).map((row) => [row.n, row]))
  checkLog(home, log, agentId)
  checkEvents(home, log, limits.events)

  const versions = [...log.values()].filter(({ operation }) => operation !== null)
  const rows = new Map(versions.map((row) => [row.n, row]))
  const chains = stands.map((stand) => chainOf(stand, rows))
  for (const [at, stand] of stands.entries()) checkMemory(stand, chains[at] ?? [], limits)
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

/** Those that can be made one after the other, as far as a home without bounds can tell. */
function changesOf(home: PlainHome, steps: readonly Step[], now: number): Change[] {
  const scratch = home.copy()
  return steps
    .map((step) => changeOf(scratch, step))
    .filter((change) => 'results' in scratch.change([change], now))
}

/** Does it, and the same to a home in memory. True when the bounds let it be. */
function live(verbs: Writes['verbs'], home: PlainHome, identity: Identity, each: Round): boolean {
  const { now } = each
  if ('erasing' in each) {
    const { key } = each.erasing
    const erasure = erasureOf(home, each.erasing)
    home.erase(key, erasure, now)
    transact(db, () => verbs.eraseMemory(identity, key, erasure, now))
    return false
  }
  const changes = changesOf(home, each.steps, now)
  const answer = transact(db, () => verbs.changeMemories(identity, changes, now))
  if (answer.outcome !== 'changed') return false
  expect(home.change(changes, now)).toMatchObject({ results: answer.results })
  return changes.length > 0
}

test(`ledger, texts and chains of versions agree under any bounds, after whatever was done (seed ${seed})`, () => {
  let changed = 0
  // Few versions are given up in a short life.
  const property = fc.property(bounds, rounds(80, 40), (limits, history) => {
    const { verbs } = prepareWrites(db, { ...unbounded, home: limits })
    const identity = newHome(verbs)
    const home = plainHome({ ...limits, bytes: 0 })
    for (const each of history) {
      if (live(verbs, home, identity, each)) changed++
      checkHome(identity, limits)
    }
  })
  fc.assert(property, { seed, numRuns: HOMES })
  expect(changed).toBeGreaterThan(HOMES * 10)
})

test('what is checked at rest finds nothing wrong with any of those homes', () => {
  const { faults, counts } = verifyDatabase(join(directory, 'home.db'))
  expect(faults).toEqual([])
  expect(counts.agents).toBeGreaterThanOrEqual(HOMES)
})
