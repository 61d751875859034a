/** On the embedded engine: how much an import writes at once, and when it writes nothing. */
import { describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { HomeBounds } from '../../src/store/port/store.ts'
import type { KeptVersion, OnConflict } from '../../src/store/port/transfer.ts'
import { transact } from '../../src/store/sqlite/engine/connection.ts'
import { manualTimers } from '../manual-timers.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newWrite } from './fixture.ts'
import {
  db,
  newHome,
  openDatabase,
  openWork,
  REPLACE,
  sourceOf,
  type Work,
  watchWrites,
} from './import-work.ts'
import { kept } from './kept.ts'
import { checkHome, sweepFrom, tablesOf } from './memories/tables.ts'

openDatabase()

const nameOf = (n: number): string => `k${String(n).padStart(5, '0')}`

interface Shape {
  readonly keys: number
  /** Of each key. */
  readonly versions: number
  /** Of each version. */
  readonly bytes: number
}

function* file({ keys, versions, bytes }: Shape, letter = 'x'): Generator<KeptVersion> {
  const text = letter.repeat(bytes)
  for (let n = 0; n < keys; n++) {
    for (let at = 1; at <= versions; at++) yield kept(nameOf(n), at, text)
  }
}

type Versions = () => Iterable<KeptVersion>

/** Handed over in small pages, so that nearly all of a source that breaks has arrived. */
const bring = (work: Work, identity: Identity, versions: Versions) =>
  work.importMemories(identity, sourceOf(versions, 1_024), REPLACE, NOON)

/** Read whole the first time; the second time it breaks at its end. */
function breaking(versions: Versions): Versions {
  let reads = 0
  return function* () {
    yield* versions()
    if (reads++ > 0) throw new RangeError('broken')
  }
}

const count = (from: string, { agentId }: Identity): unknown =>
  db.prepare(`SELECT count(*) AS n FROM ${from} WHERE agent_id = ?`).get(agentId)?.n

const rowsWritten = () => db.prepare('SELECT total_changes() AS n').get()?.n

describe('no write of an import keeps others waiting for more than a few rows and pages', () => {
  /** A batch of 100 memories has three rows for each, and one of 512 KiB somewhat over 128 pages. */
  const MOST = { rows: 400, pages: 400 }

  test.each([
    { what: '64 MiB of long texts', keys: 1_000, versions: 4, bytes: 16_380 },
    { what: '40 MiB in batches full both ways', keys: 4_000, versions: 1, bytes: 10_400 },
    { what: '64 MiB, 50 versions of each memory', keys: 82, versions: 50, bytes: 16_380 },
    { what: 'short texts, 50 versions of each', keys: 200, versions: 50, bytes: 10 },
    { what: 'short texts', keys: 4_000, versions: 1, bytes: 10 },
  ])('$what: new, then again, then taken back', async ({ what: _, ...shape }) => {
    const writes = watchWrites()
    const work = openWork(writes.look)
    const identity = newHome(work)
    const imported = { outcome: 'imported', imported: shape.keys }
    expect(await bring(work, identity, () => file(shape, 'a'))).toMatchObject(imported)
    expect(await bring(work, identity, () => file(shape, 'b'))).toMatchObject(imported)
    const broken = breaking(() => file(shape, 'c'))
    await expect(bring(work, identity, broken)).rejects.toThrow('broken')
    writes.look()
    const undone = count(`(SELECT * FROM log WHERE event = 'undo_import')`, identity)
    const asBefore = `(SELECT * FROM log JOIN memories USING (agent_id, n) WHERE text LIKE 'b%')`
    expect([undone, count(asBefore, identity)]).toEqual([1, shape.keys])
    const most = writes.most()
    expect(most.rows).toBeGreaterThan(0)
    expect(most.rows).toBeLessThan(MOST.rows)
    expect(most.pages).toBeGreaterThan(0)
    expect(most.pages).toBeLessThan(MOST.pages)
  })
})

describe('an import that is refused writes nothing', () => {
  const KEYS = 1_024
  const texts = () => file({ keys: KEYS, versions: 1, bytes: 16_380 })
  const deletions = () => Array.from({ length: KEYS }, (_, n) => kept(nameOf(n), 1, undefined))

  interface Refused {
    readonly what: string
    readonly sent: Versions
    readonly bounds: Partial<HomeBounds>
    readonly onConflict?: OnConflict
    readonly outcome?: string
    readonly mostRead?: number
  }

  // What is over the quota for certain is read no further than the batch that says so.
  test.each<Refused>([
    { what: 'over the bytes of a home', sent: texts, bounds: { bytes: 1_048_576 }, mostRead: 150 },
    { what: 'over its memories', sent: texts, bounds: { memories: 10 }, mostRead: 100 },
    {
      ...{ what: 'over its names', sent: deletions },
      ...{ bounds: { memories: 10, events: 1 }, mostRead: 150 },
    },
    {
      ...{ what: 'a conflict at its end', sent: texts, bounds: {} },
      ...{ onConflict: 'fail', outcome: 'conflict' },
    },
  ])('$what', async ({ sent, bounds, mostRead = KEYS, ...refused }) => {
    const { onConflict = 'replace', outcome = 'over_quota' } = refused
    const work = openWork(() => {}, { ...unbounded.home, ...bounds })
    const identity = newHome(work)
    const last = newWrite({ key: nameOf(KEYS - 1) })
    transact(db, () => work.verbs.writeMemory(identity, last, NOON))
    let read = 0
    function* counted() {
      for (const version of sent()) {
        read++
        yield version
      }
    }
    const before = rowsWritten()
    const order = { onConflict, dryRun: false }
    const answer = await work.importMemories(identity, sourceOf(counted, 0), order, NOON)
    expect([answer.outcome, rowsWritten()]).toEqual([outcome, before])
    expect(read).toBeLessThanOrEqual(mostRead)
  })
})

describe('an agent that is erased between two batches', () => {
  const TABLES = ['agents', 'memories', 'homes', 'log', 'log_index', 'unfinished', 'erased_agents']
  const some = () => file({ keys: 250, versions: 1, bytes: 10 })

  /** `batch`: before which one it is erased. */
  async function outcomeOf(batch: number, versions: Versions) {
    let batches = 0
    const seen: unknown[] = []
    const work = openWork((verb) => {
      if (verb !== 'writeBatch' || ++batches !== batch) return
      seen.push(count('memories', identity), count('unfinished', identity))
      transact(db, () => work.verbs.eraseAgent(identity))
      while (transact(db, () => work.verbs.eraseRest(identity.agentId)));
    })
    const identity = newHome(work)
    const answer = await bring(work, identity, versions).catch(({ message }) => message)
    const left = TABLES.filter((table) => count(table, identity) !== 0)
    return { seen, answer, left }
  }

  test('has imported nothing, and nothing of it is left', async () => {
    expect(await outcomeOf(3, some)).toEqual({
      ...{ seen: [200, 1], answer: { outcome: 'revoked' }, left: [] },
    })
  })

  test('nor is anything left if that happens while the import is taken back', async () => {
    const taken = await outcomeOf(4, breaking(some))
    expect(taken).toEqual({ seen: [200, 1], answer: 'broken', left: [] })
  })
})

test('what goes on is not taken for what was left, however long it takes; and nothing is left of it', async () => {
  const manual = manualTimers()
  let batches = 0
  const work = openWork(
    (verb) => {
      if (verb === 'writeBatch' && ++batches === 2) manual.pass(5_000)
    },
    unbounded.home,
    manual.timers,
  )
  const identity = newHome(work)
  const some = () => file({ keys: 1_000, versions: 1, bytes: 10 })
  // One by one, so that there is time for more than a look until it ends.
  const answer = await work.importMemories(identity, sourceOf(some, 0), REPLACE, NOON)
  expect(answer).toMatchObject({ outcome: 'imported', imported: 1_000 })
  expect(count(`(SELECT * FROM log WHERE event = 'undo_import')`, identity)).toBe(0)
  expect(count('memories', identity)).toBe(1_000)
  const other = newHome(work)
  await expect(bring(work, other, breaking(some))).rejects.toThrow('broken')
  expect(count(`(SELECT * FROM log WHERE event = 'undo_import')`, other)).toBe(1)
  // It is looked for what is left, and nothing is held any more.
  expect(manual.waits()).toEqual([5_000])
})

test('each batch is told of at its own time', async () => {
  const manual = manualTimers()
  const second = (verb: string) => {
    if (verb === 'writeBatch') manual.pass(1_000)
  }
  const work = openWork(second, unbounded.home, manual.timers)
  const identity = newHome(work)
  await bring(work, identity, () => file({ keys: 250, versions: 1, bytes: 10 }))
  const at = db.prepare(
    `SELECT DISTINCT coalesce(happened_at, updated_at) - ${NOON} AS at FROM log
     WHERE agent_id = ? AND event = 'import' ORDER BY at`,
  )
  expect(at.all(identity.agentId).map((row) => row.at)).toEqual([0, 1_000, 2_000])
})

test('more names than a home has and remembers are no import', async () => {
  const work = openWork(() => {}, { ...unbounded.home, memories: 2, events: 3 })
  const names = (length: number) => () =>
    Array.from({ length }, (_, n) => kept(nameOf(n), 1, undefined))
  expect(await bring(work, newHome(work), names(70))).toEqual({ outcome: 'over_quota' })
  expect(await bring(work, newHome(work), names(69))).toMatchObject({ imported: 69 })
})

test('while an import goes on nothing of its home is pruned, and afterwards what is over', async () => {
  const bounds = { ...unbounded.home, versions: 9, bytes: 10_000, events: 100 }
  const { verbs } = openWork(() => {}, bounds)
  const write = (expectedVersion: number) => {
    const change = newWrite({ key: 'mine', text: 'x'.repeat(1_000), expectedVersion })
    expect(verbs.writeMemory(identity, change, NOON).outcome).toBe('saved')
  }
  let batches = 0
  const work = openWork((verb) => {
    if (verb !== 'writeBatch' || ++batches !== 3) return
    for (let n = 0; n < 40; n++) transact(db, () => write(n))
    sweepFrom(db, 0, bounds.versions)
    expect(count(`(SELECT * FROM log WHERE text IS NOT NULL)`, identity)).toBe(240)
    expect(count('log', identity)).toBe(241)
  }, bounds)
  const identity = newHome(work)
  const answer = await bring(work, identity, () => file({ keys: 250, versions: 1, bytes: 10 }))
  expect(answer).toMatchObject({ outcome: 'imported', imported: 250 })
  transact(db, () => write(40))
  checkHome(tablesOf(db)(identity.agentId), bounds)
})

describe('what is over the limits of a home when an import has ended goes in slices', () => {
  test.each([
    // A slice has 1,024 events, of two rows each, and 256 KiB or some 1,024 versions.
    { what: 'events', bounds: { events: 1_000 }, mostRows: 2_100 },
    { what: 'versions over its bytes', bounds: { bytes: 500_000 }, mostRows: 700 },
    { what: 'both', bounds: { events: 100, bytes: 500_000 }, mostRows: 2_500 },
    {
      what: 'fewer events than are filed at once',
      bounds: { events: 5, bytes: 500_000 },
      mostRows: 2_500,
    },
    { what: 'short versions', bounds: { bytes: 5_000 }, bytes: 3, mostRows: 3_700 },
  ])('$what', async ({ bounds: some, bytes = 1_000, mostRows }) => {
    const bounds = { ...unbounded.home, ...some }
    const before = openWork()
    const identity = newHome(before)
    // From when there was no limit; their rows go, because they are no versions.
    transact(db, () => {
      for (let n = 0; n < 4_000; n++) before.verbs.recordEvent(identity, 'export', NOON)
    })
    const writes = watchWrites()
    let slices = 0
    const work = openWork((verb) => {
      if (verb === 'pruneHome') slices++
      writes.look()
    }, bounds)
    const versions = () => file({ keys: 100, versions: 50, bytes })
    expect(await bring(work, identity, versions)).toMatchObject({ imported: 100 })
    writes.look()
    expect(slices).toBeGreaterThan(3)
    expect(writes.most().rows).toBeLessThan(mostRows)
    checkHome(tablesOf(db)(identity.agentId), bounds)
    // By then what was not in the index yet is.
    for (let n = 0; n < 64; n++) {
      const write = newWrite({ key: nameOf(n), expectedVersion: 50 })
      transact(db, () => work.verbs.writeMemory(identity, write, NOON))
    }
    checkHome(tablesOf(db)(identity.agentId), bounds)
  })
})
