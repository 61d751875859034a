/** On the embedded engine: versions over the count give way in the order of the log. */
import { expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Change } from '../../../src/store/port/memories.ts'
import { transact } from '../../../src/store/sqlite/engine/connection.ts'
import { prepareKeyState } from '../../../src/store/sqlite/memories/states.ts'
import { prepareSweep } from '../../../src/store/sqlite/memories/sweep.ts'
import { prepareChain } from '../../../src/store/sqlite/memories/versions.ts'
import { unbounded } from '../../unbounded.ts'
import { NOON, newWrite } from '../fixture.ts'
import {
  db,
  newHome,
  openDatabase,
  openWork,
  REPLACE,
  sourceOf,
  type Work,
} from '../import-work.ts'
import { kept as imported } from '../kept.ts'
import { checkHome, sweepFrom, tablesOf } from './tables.ts'

openDatabase()

const VERSIONS = 9
const bounds = { ...unbounded.home, versions: VERSIONS }

const openHomes = () => openWork(undefined, bounds)

function change({ verbs }: Work, identity: Identity, ...changes: readonly Change[]): void {
  const { outcome } = transact(db, () => verbs.changeMemories(identity, changes, NOON))
  expect(outcome).toBe('changed')
}

const write = (work: Work, identity: Identity, key: string, expectedVersion: number): void =>
  change(work, identity, { verb: 'write', ...newWrite({ key, expectedVersion }) })

const sweepThrough = (): void => sweepFrom(db, 0, VERSIONS)

/** Everything in the home agrees. */
const check = ({ agentId }: Identity): void => checkHome(tablesOf(db)(agentId), bounds)

/** The versions of memories that are there, newest first. */
function versionsOf({ agentId }: Identity): (key: string) => number[] {
  const [state, chain] = [prepareKeyState(db), prepareChain(db)]
  return (key) => [...chain(state(agentId, key)?.n ?? null, 0)].map(({ version }) => version)
}

/** Of one, in a home where everything agrees. */
function kept(home: Identity, key: string): number[] {
  check(home)
  return versionsOf(home)(key)
}

const down = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at)

test('of memories that change equally often none waits until it has twice as many', () => {
  const work = openHomes()
  const homes = [newHome(work), newHome(work)]
  const seldom = newHome(work)
  const keys = Array.from({ length: 20 }, (_, key) => `k${key}`)
  const counts: number[] = []
  for (let version = 0; version < 10 * VERSIONS; version++) {
    for (const key of keys) for (const home of homes) write(work, home, key, version)
    if (version % 8 === 0) write(work, seldom, 'plan', version / 8)
    if (version % 5 === 0 && version > 3 * VERSIONS) {
      homes.forEach(check)
      counts.push(
        ...homes.flatMap((home) => keys.map(versionsOf(home))).map(({ length }) => length),
      )
    }
  }
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(VERSIONS)
  // Alone, each would go on to 17, and then give up all nine.
  expect(Math.max(...counts)).toBeLessThan(VERSIONS + 6)
  expect(kept(seldom, 'plan')).toEqual(down(12, 1))
})

test('what was passed by goes with what came after it', () => {
  const work = openHomes()
  const home = newHome(work)
  for (let n = 0; n < 10; n++) write(work, home, 'a', n)
  sweepThrough()
  expect(kept(home, 'a')).toEqual(down(10, 2))
  for (let n = 10; n < 16; n++) write(work, home, 'a', n)
  const { n } =
    db.prepare('SELECT n FROM log WHERE agent_id = ? AND version = 4').get(home.agentId) ?? {}
  const { look } = prepareSweep(db, VERSIONS, Number(n))
  transact(db, look)
  expect(kept(home, 'a')).toEqual(down(16, 8))
})

test('what an operator erased is not counted as kept', () => {
  const work = openHomes()
  const home = newHome(work)
  for (let n = 0; n < 12; n++) write(work, home, 'a', n)
  transact(db, () => work.verbs.eraseMemory(home, 'a', [5, 6], NOON))
  sweepThrough()
  expect(kept(home, 'a')).toEqual([...down(12, 7), ...down(4, 1)])
  for (let n = 12; n < 17; n++) write(work, home, 'a', n)
  sweepThrough()
  expect(kept(home, 'a')).toEqual([...down(17, 7), ...down(4, 1)])
})

test('what a memory was under a name that it had goes by its count, not by whose the name is', () => {
  const work = openHomes()
  const home = newHome(work)
  for (let n = 0; n < 5; n++) write(work, home, 'b', n)
  change(work, home, { verb: 'rename', from: 'b', to: 'c', expectedVersion: 5 })
  for (let n = 0; n < 14; n++) write(work, home, 'a', n)
  change(work, home, { verb: 'rename', from: 'a', to: 'b', expectedVersion: 14 })
  sweepThrough()
  expect(kept(home, 'c')).toEqual(down(6, 1))
  expect(kept(home, 'b')).toEqual(down(15, 1))
  // And where another memory begins under it.
  for (let n = 0; n < 12; n++) write(work, home, 'a', n === 0 ? 0 : 15 + n)
  sweepThrough()
  expect(kept(home, 'b')).toEqual(down(15, 1))
  expect(kept(home, 'a')).toEqual(down(27, 19))
})

test('of what an import brought only as much goes as is over the count', async () => {
  const work = openHomes()
  const home = newHome(work)
  const sent = [1, 4, 7].map((version) => imported('a', version, 'sent'))
  await work.importMemories(
    home,
    sourceOf(() => sent),
    REPLACE,
    NOON,
  )
  for (let n = 7; n < 14; n++) write(work, home, 'a', n)
  sweepThrough()
  expect(kept(home, 'a')).toEqual([...down(14, 7), 4, 1])
  for (let n = 14; n < 17; n++) write(work, home, 'a', n)
  sweepThrough()
  expect(kept(home, 'a')).toEqual(down(17, 9))
})
