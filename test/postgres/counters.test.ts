/** On PostgreSQL: what is counted of a home, and what its bounds leave of its versions. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importVerb } from '../../src/store/import.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { HomeBounds } from '../../src/store/port/store.ts'
import { verifyServer } from '../../src/store/postgres/check/verify.ts'
import type { Connections } from '../../src/store/postgres/engine/connections.ts'
import { readVerbs } from '../../src/store/postgres/engine/run.ts'
import { batchStore, changeVerbs } from '../../src/store/postgres/memories/transactions.ts'
import { logStatements } from '../../src/store/postgres/memories/versions.ts'
import { writeVerb } from '../../src/store/postgres/memories/write-memory.ts'
import { settling } from '../../src/store/settle.ts'
import { allReads } from '../../src/store/verbs/verbs.ts'
import { processTimers } from '../../src/timers.ts'
import { NOON, newWrite, type StoreFixture } from '../store/fixture.ts'
import { type Turn, turns } from '../store/memories/brought.ts'
import { type PlainHome, plainHome } from '../store/memories/plain-home.ts'
import { changeOf, erasureOf, type Round, rounds, type Step } from '../store/memories/steps.ts'
import type { Database } from './databases.ts'
import { openBeside } from './opened.ts'
import { checkHeads, checkHome, tablesOf } from './tables.ts'

/** A longer hunt is a larger number here. */
const HOMES = 8

let fixture: StoreFixture
let connections: Connections
let database: Database
let close: () => Promise<void>
beforeAll(async () => {
  ;({ database, fixture, connections, close } = await openBeside(4))
})
afterAll(() => close())

const bounds: fc.Arbitrary<HomeBounds> = fc.record({
  memories: fc.constantFrom(0, 2),
  bytes: fc.constantFrom(0, 120, 400),
  versions: fc.constantFrom(0, 1, 2, 5),
  events: fc.constantFrom(0, 1, 64),
})

const nothing = () => undefined

function verbsOf(limits: HomeBounds) {
  // To vacuum takes long, and changes no row.
  const quiet = { ...connections, alone: async () => {} }
  const { changeMemories, eraseMemory } = changeVerbs(quiet, limits)
  const reading = readVerbs(quiet, allReads(logStatements, 0))
  const store = batchStore(quiet, limits, reading)
  const settle = settling(store, { ...processTimers, every: () => nothing })
  return {
    changeMemories,
    writeMemory: writeVerb(quiet, nothing, limits, changeMemories),
    eraseMemory,
    importMemories: importVerb({ store, bounds: limits, settle }, () => 0),
  }
}

type Verbs = ReturnType<typeof verbsOf>

/** Those that can be made one after the other, as far as a home without bounds can tell. */
function changesOf(home: PlainHome, steps: readonly Step[], now: number): Change[] {
  const scratch = home.copy()
  return steps
    .map((step) => changeOf(scratch, step))
    .filter((change) => 'results' in scratch.change([change], now))
}

/** A write alone is the verb of its own. */
async function make(
  verbs: Verbs,
  identity: Identity,
  changes: readonly Change[],
  now: number,
): Promise<boolean> {
  const [only, ...more] = changes
  if (only?.verb === 'write' && more.length === 0) {
    return (await verbs.writeMemory(identity, only, now)).outcome === 'saved'
  }
  return (await verbs.changeMemories(identity, changes, now)).outcome === 'changed'
}

/** Does it, and the same to a home in memory. True when the bounds let it be. */
async function live(
  verbs: Verbs,
  home: PlainHome,
  identity: Identity,
  each: Round,
): Promise<boolean> {
  const { now } = each
  if ('erasing' in each) {
    const { key } = each.erasing
    const erasure = erasureOf(home, each.erasing)
    const { outcome } = await verbs.eraseMemory(identity, key, erasure, now)
    expect(home.erase(key, erasure, now).outcome).toBe(outcome)
    return false
  }
  const changes = changesOf(home, each.steps, now)
  if (!(await make(verbs, identity, changes, now))) return false
  home.change(changes, now)
  return changes.length > 0
}

test('counters, texts and chains of versions agree under any bounds, after whatever was done', async () => {
  let changed = 0
  const property = fc.asyncProperty(bounds, rounds(50, 30), async (limits, history) => {
    const verbs = verbsOf(limits)
    const { operator } = await fixture.agent()
    const home = plainHome({ ...limits, bytes: 0 })
    for (const each of history) {
      if (await live(verbs, home, operator, each)) changed++
      const tables = await tablesOf(connections.read, operator.agentId)
      checkHome(tables, limits)
      checkHeads(tables, home)
    }
  })
  await fc.assert(property, { numRuns: HOMES })
  expect(changed).toBeGreaterThan(HOMES * 5)
})

test('a memory that is written often holds little more than it keeps', async () => {
  const limits = { memories: 0, bytes: 0, versions: 3, events: 0 }
  const verbs = verbsOf(limits)
  const { operator } = await fixture.agent()
  for (let expectedVersion = 0; expectedVersion < 40; expectedVersion++) {
    await verbs.writeMemory(operator, newWrite({ expectedVersion }), NOON)
    checkHome(await tablesOf(connections.read, operator.agentId), limits)
  }
})

/** What is told of a key's version is what is there. An empty text is a delete. */
async function changeAt(verbs: Verbs, identity: Identity, key: string, text: string) {
  const { heads } = await tablesOf(connections.read, identity.agentId)
  const head = heads.find((each) => each.key === key && !each.deleted)
  const expectedVersion = head?.version ?? 0
  const change: Change = text
    ? { verb: 'write', ...newWrite({ key, text, expectedVersion }) }
    : { verb: 'delete', key, expectedVersion }
  await make(verbs, identity, [change], NOON)
}

/** Answers how many memories were imported. */
async function bring(verbs: Verbs, identity: Identity, turn: Turn): Promise<number> {
  if ('text' in turn) await changeAt(verbs, identity, turn.key, turn.text)
  if ('erasure' in turn) await verbs.eraseMemory(identity, turn.key, turn.erasure, NOON)
  if (!('source' in turn)) return 0
  const { source, order } = turn
  const pieces = {
    async *[Symbol.asyncIterator]() {
      for (let at = 0; at < source.length; at += 3) yield source.slice(at, at + 3)
    },
  }
  const answer = await verbs.importMemories(identity, pieces, order, NOON)
  return answer.outcome === 'imported' && !order.dryRun ? answer.imported : 0
}

test('they agree whatever was imported, and whatever it met', async () => {
  let imported = 0
  const property = fc.asyncProperty(bounds, turns, async (limits, history) => {
    const verbs = verbsOf(limits)
    const { operator } = await fixture.agent()
    for (const each of history) {
      imported += await bring(verbs, operator, each)
      checkHome(await tablesOf(connections.read, operator.agentId), limits)
    }
  })
  await fc.assert(property, { numRuns: HOMES })
  expect(imported).toBeGreaterThan(HOMES)
})

test('what is checked at rest finds nothing wrong with any of those homes', async () => {
  const { faults, counts } = await verifyServer(database.url, processTimers)
  expect(faults).toEqual([])
  expect(counts.agents).toBeGreaterThanOrEqual(HOMES)
})
