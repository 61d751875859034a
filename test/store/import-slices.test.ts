/** On the embedded engine: an import goes to the writer in slices, with others' writes between them. */
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/home.ts'
import type { KeptVersion } from '../../src/store/port/transfer.ts'
import { transact } from '../../src/store/sqlite/engine/connection.ts'
import { giveUpAhead } from '../../src/store/sqlite/transfer/ahead.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newWrite } from './fixture.ts'
import {
  db,
  kept,
  newHome,
  openDatabase,
  openWork,
  REPLACE,
  sourceOf,
  stateOf,
  watchWrites,
} from './import-work.ts'

openDatabase()

/** Of one write: the last takes over 1,000 memories, three rows for each. */
const MOST = { rows: 4_000, pages: 200 }
const TEXT_BYTES = 16_380

function* file(keys: number, versions: number): Generator<KeptVersion> {
  const text = 'x'.repeat(TEXT_BYTES)
  for (let n = 0; n < keys; n++) {
    for (let at = 1; at <= versions; at++) yield kept(`k${String(n).padStart(5, '0')}`, at, text)
  }
}

const count = (sql: string, agentId: string): unknown =>
  Object.values(db.prepare(sql).get(agentId) ?? {})[0]

/** What there is of an import that is not over. */
const aheadOf = ({ agentId }: Identity) => [
  count('SELECT count(*) FROM log_index WHERE agent_id = ? AND id < 0', agentId),
  count('SELECT count(*) FROM log WHERE agent_id = ? AND id < 0', agentId),
  count('SELECT count(*) FROM staged_imports WHERE agent_id = ?', agentId),
]

test('of 64 MiB no write keeps others waiting for more than a few rows and pages', async () => {
  const bring = async (identity?: Identity) => {
    const writes = watchWrites()
    const work = openWork(writes.look)
    const home = identity ?? newHome(work)
    const answer = await work.importMemories(
      home,
      sourceOf(() => file(1_000, 4)),
      REPLACE,
      NOON,
    )
    writes.look()
    expect(answer).toMatchObject({ outcome: 'imported', imported: 1_000 })
    const most = writes.most()
    expect(most.rows).toBeGreaterThan(0)
    expect(most.rows).toBeLessThan(MOST.rows)
    expect(most.pages).toBeGreaterThan(0)
    expect(most.pages).toBeLessThan(MOST.pages)
    return home
  }
  const identity = await bring()
  await bring(identity)
  await bring(identity)
})

test('what is written ahead is nothing to anybody, and gone where it ends in nothing', async () => {
  const seen: unknown[] = []
  const work = openWork((verb) => {
    if (verb === 'finishImport') seen.push(aheadOf(identity), stateOf(identity))
  })
  const identity = newHome(work)
  const empty = stateOf(identity)
  const three = () => ['a', 'b', 'c'].map((key) => kept(key, 1, 'x'))
  let reads = 0
  const left: unknown[] = []
  async function* breaking() {
    yield three()
    if (reads++ === 0) return
    left.push(aheadOf(identity))
    throw new RangeError('broken')
  }
  const broken = { [Symbol.asyncIterator]: breaking }
  await expect(work.importMemories(identity, broken, REPLACE, NOON)).rejects.toThrow('broken')
  expect(left).toEqual([[2, 2, 1]])
  expect([aheadOf(identity), stateOf(identity)]).toEqual([[0, 0, 0], empty])
  seen.length = 0
  const over = openWork(() => {}, { ...unbounded.home, memories: 2 })
  const answer = await over.importMemories(identity, sourceOf(three, 1), REPLACE, NOON)
  expect([answer, aheadOf(identity)]).toEqual([{ outcome: 'over_quota' }, [0, 0, 0]])
  await work.importMemories(identity, sourceOf(three, 1), REPLACE, NOON)
  expect(seen).toEqual([[0, 0, 0], empty, [3, 3, 1], empty])
  expect(aheadOf(identity)).toEqual([3, 3, 0])
})

/** Without the pages that other imports have left, which would hide what this one takes. */
const bytesUsed = (): number => {
  const numberOf = (pragma: string) =>
    Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0])
  return (numberOf('page_count') - numberOf('freelist_count')) * numberOf('page_size')
}

const MIB = 1024 * 1024

test.each([
  {
    what: 'over the bytes of a home',
    bounds: { bytes: MIB },
    outcome: 'over_quota',
    readMost: 2 * MIB,
  },
  { what: 'over its memories', bounds: { memories: 10 }, outcome: 'over_quota', readMost: MIB },
  {
    what: 'over its names',
    bounds: { memories: 10, events: 1 },
    outcome: 'over_quota',
    readMost: 2 * MIB,
  },
  { what: 'a conflict at its end', bounds: {}, outcome: 'conflict', readMost: 16 * MIB },
])(
  '16 MiB that are $what leave the database as large as it was',
  async ({ bounds, ...expected }) => {
    const identity = newHome(openWork())
    const theirs = transact(db, () =>
      openWork().verbs.changeMemories(
        identity,
        [{ verb: 'write', ...newWrite({ id: '019a', key: 'k01023', expectedVersion: 0 }) }],
        NOON,
      ),
    )
    expect(theirs.outcome).toBe('changed')
    const before = bytesUsed()
    let most = before
    const look = () => {
      most = Math.max(most, bytesUsed())
    }
    const work = openWork(look, { ...unbounded.home, ...bounds })
    let read = 0
    function* counted() {
      for (const version of file(1_024, 1)) {
        read += TEXT_BYTES
        yield version
      }
    }
    const order = { ...REPLACE, onConflict: 'fail' } as const
    const { outcome } = await work.importMemories(identity, sourceOf(counted), order, NOON)
    expect(outcome).toBe(expected.outcome)
    expect(most - before).toBeLessThan(MIB / 16)
    expect(read).toBeLessThanOrEqual(expected.readMost)
  },
)

test('an agent that is erased meanwhile takes along what was written ahead', async () => {
  const seen: unknown[] = []
  const work = openWork((verb) => {
    if (verb !== 'finishImport') return
    seen.push(aheadOf(identity))
    if (seen.length === 2) transact(db, () => work.verbs.eraseAgent(identity))
  })
  const identity = newHome(work)
  const source = sourceOf(() => [kept('a', 1, 'x'), kept('b', 1, 'x')], 1)
  const answer = await work.importMemories(identity, source, REPLACE, NOON)
  expect([answer, aheadOf(identity)]).toEqual([{ outcome: 'revoked' }, [0, 0, 0]])
  expect(seen).toEqual([
    [0, 0, 0],
    [2, 2, 1],
  ])
})

test('what a process has left that ended in the midst is gone when the next one starts', () => {
  const work = openWork()
  const [left, stayed] = [newHome(work), newHome(work)]
  for (const identity of [stayed, left]) {
    const arriving = Array.from({ length: 300 }, (_, n) => ({
      ...kept(`k${1_000 + n}`, 1, 'left'),
      isNewest: true,
    }))
    const staged = transact(db, () =>
      work.verbs.stageImport(identity, arriving, undefined, REPLACE, NOON),
    )
    if (staged.outcome !== 'staged') throw new Error(staged.outcome)
    if (identity === left) continue
    transact(db, () => work.verbs.finishImport(identity, staged.cursor, REPLACE, NOON))
  }
  expect(aheadOf(left)).toEqual([300, 300, 1])
  transact(db, () => giveUpAhead(db))
  expect([aheadOf(left), aheadOf(stayed)]).toEqual([
    [0, 0, 0],
    [300, 300, 0],
  ])
})

test('more names than a home has and remembers are no import', async () => {
  const bounds = { ...unbounded.home, memories: 2, events: 3 }
  const work = openWork(() => {}, bounds)
  const names = (length: number) => () =>
    Array.from({ length }, (_, n) => kept(`k${100 + n}`, 1, undefined))
  const bring = (length: number) =>
    work.importMemories(newHome(work), sourceOf(names(length), 0), REPLACE, NOON)
  expect(await bring(70)).toEqual({ outcome: 'over_quota' })
  expect(await bring(69)).toMatchObject({ imported: 69 })
})

test('what it brings and gives up at once leaves no empty row, with no bound on events either', async () => {
  const work = openWork(() => {}, { ...unbounded.home, versions: 2, bytes: 100, events: 0 })
  const identity = newHome(work)
  const versions = () =>
    ['a', 'b', 'c'].flatMap((key) =>
      Array.from({ length: 40 }, (_, at) =>
        kept(key, at + 1, key === 'b' && at === 39 ? undefined : 'x'.repeat(20)),
      ),
    )
  await work.importMemories(identity, sourceOf(versions, 50), REPLACE, NOON)
  const empty = 'event IS NULL AND operation IS NULL AND agent_id = ?'
  expect(count(`SELECT count(*) FROM log WHERE ${empty}`, identity.agentId)).toBe(0)
  // Of the 110 bytes within the count the oldest version is over.
  expect(aheadOf(identity)).toEqual([5, 5, 0])
})
