/** On the embedded engine: what is counted of a home, and what its bounds leave of its versions. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Change } from '../../../src/store/port/memories.ts'
import type { HomeBounds } from '../../../src/store/port/store.ts'
import type { KeptVersion } from '../../../src/store/port/transfer.ts'
import { verifyFile } from '../../../src/store/sqlite/check/verify.ts'
import { transact } from '../../../src/store/sqlite/engine/connection.ts'
import type { Writer } from '../../../src/store/sqlite/engine/writer.ts'
import { prepareWrites, type Writes } from '../../../src/store/sqlite/engine/writes.ts'
import { prepareHomes } from '../../../src/store/sqlite/memories/homes.ts'
import { timesPromised } from '../../effort.ts'
import { unbounded } from '../../unbounded.ts'
import { NOON, newWrite } from '../fixture.ts'
import { db, importerOn, newHome, openDatabase } from '../import-work.ts'
import { type Turn, turns } from './brought.ts'
import { type PlainHome, plainHome } from './plain-home.ts'
import { changeOf, erasureOf, type Round, rounds, type Step } from './steps.ts'
import { checkHeads, checkHome, checkVersions, sweepFrom, tablesOf } from './tables.ts'

/** A longer hunt is a larger number here. */
const HOMES = timesPromised(160)

openDatabase()

const bounds: fc.Arbitrary<HomeBounds> = fc.record({
  memories: fc.constantFrom(0, 2),
  bytes: fc.constantFrom(0, 120, 400),
  versions: fc.constantFrom(0, 1, 2, 5),
  events: fc.constantFrom(0, 1, 64, 100),
})

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
    const { outcome } = transact(db, () => verbs.eraseMemory(identity, key, erasure, now))
    expect(home.erase(key, erasure, now).outcome).toBe(outcome)
    return false
  }
  const changes = changesOf(home, each.steps, now)
  const answer = transact(db, () => verbs.changeMemories(identity, changes, now))
  if (answer.outcome !== 'changed') return false
  expect(home.change(changes, now)).toMatchObject({ results: answer.results })
  return changes.length > 0
}

const endOfLog = (): number => Number(db.prepare('SELECT max(n) AS n FROM log').get()?.n ?? 0)

test('counters, texts and chains of versions agree under any bounds, after whatever was done', () => {
  const tables = tablesOf(db)
  let changed = 0
  // Few versions are given up in a short life.
  const property = fc.property(bounds, rounds(80, 40), (limits, history) => {
    const { verbs } = prepareWrites(db, { ...unbounded, home: limits })
    const identity = newHome({ verbs })
    const home = plainHome({ ...limits, bytes: 0 })
    const from = endOfLog()
    for (const each of history) {
      if (live(verbs, home, identity, each)) changed++
      if (each.now % 2 === 0) sweepFrom(db, from, limits.versions)
      checkHome(tables(identity.agentId), limits)
      if (limits.bytes === 0) checkVersions(tables(identity.agentId), home, limits)
      checkHeads(tables(identity.agentId), home)
    }
  })
  fc.assert(property, { numRuns: HOMES })
  expect(changed).toBeGreaterThan(HOMES * 10)
})

/** What is told of a key's version is what is there. */
function changeAt(verbs: Writes['verbs'], identity: Identity, key: string, text: string): void {
  const { agentId } = identity
  const living = 'SELECT version FROM memories WHERE agent_id = ? AND key = ? AND deleted = 0'
  const expectedVersion = Number(db.prepare(living).get(agentId, key)?.version ?? 0)
  const change: Change = text
    ? { verb: 'write', ...newWrite({ key, text, expectedVersion }) }
    : { verb: 'delete', key, expectedVersion }
  transact(db, () => verbs.changeMemories(identity, [change], NOON))
}

/** Asks the verbs as the writer's thread does. */
const importing = (verbs: Writes['verbs'], limits: HomeBounds) => {
  const submit: Writer['submit'] = async (verb, ...args) => {
    const asked = verbs[verb] as (...given: typeof args) => ReturnType<(typeof verbs)[typeof verb]>
    return transact(db, () => asked(...args))
  }
  return importerOn(db, submit, limits)
}

const inOnePiece = (versions: readonly KeptVersion[]) => ({
  async *[Symbol.asyncIterator]() {
    yield versions
  },
})

/** Answers how many memories were imported. */
async function bring(
  verbs: Writes['verbs'],
  identity: Identity,
  turn: Turn,
  limits: HomeBounds,
): Promise<number> {
  if ('text' in turn) changeAt(verbs, identity, turn.key, turn.text)
  if ('erasure' in turn) {
    transact(db, () => verbs.eraseMemory(identity, turn.key, turn.erasure, NOON))
  }
  if (!('source' in turn)) return 0
  const { source, order } = turn
  const answer = await importing(verbs, limits)(identity, inOnePiece(source), order, NOON)
  return answer.outcome === 'imported' && !order.dryRun ? answer.imported : 0
}

test.each([
  { events: 1, left: expect.toSatisfy((keys: number) => keys < 70) },
  { events: 0, left: 70 },
])('of $events events they agree while the oldest deletes are forgotten', ({ events, left }) => {
  const limits = { ...unbounded.home, events }
  const { verbs } = prepareWrites(db, { ...unbounded, home: limits })
  const identity = newHome({ verbs })
  const tables = tablesOf(db)(identity.agentId)
  for (let n = 0; n < 70; n++) {
    for (const text of ['once', 'twice', '']) changeAt(verbs, identity, `k${n}`, text)
    checkHome(tables, limits)
  }
  expect(tables('memories').length).toEqual(left)
})

test('of a home that is gone by the time it is looked at nothing is counted', () => {
  expect(prepareHomes(db).read('gone')).toEqual({
    ...{ memories: 0, bytes: 0, history: 0, deleted: 0, floor: 0 },
    ...{ lastEvent: 0, firstEvent: 1, tail: null, oldest: 0, day: 0 },
    ...{ writes: 0, imports: 0, vectors: 0, head: new Uint8Array() },
  })
})

test('they agree whatever was imported, and whatever it met', async () => {
  const tables = tablesOf(db)
  let imported = 0
  const property = fc.asyncProperty(bounds, turns, async (limits, history) => {
    const { verbs } = prepareWrites(db, { ...unbounded, home: limits })
    const identity = newHome({ verbs })
    const from = endOfLog()
    for (const each of history) {
      sweepFrom(db, from, limits.versions)
      imported += await bring(verbs, identity, each, limits)
      checkHome(tables(identity.agentId), limits)
    }
  })
  await fc.assert(property, { numRuns: HOMES })
  expect(imported).toBeGreaterThan(HOMES)
})

test('what is checked at rest finds nothing wrong with any of those homes', () => {
  const { faults, counts } = verifyFile(db.location() ?? '')
  expect(faults).toEqual([])
  expect(counts.agents).toBeGreaterThanOrEqual(HOMES)
})
