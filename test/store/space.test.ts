/** What is kept free for the home: who is refused, and that few questions are asked of the disk. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { StorageFull } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { freeBytesFor, keepReserve } from '../../src/store/sqlite/engine/space.ts'
import { embedded, type TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, newWrite, noLimits } from './fixture.ts'

/** A disk whose free bytes and whose time are set by hand. */
function disk(reserve: number) {
  const at = { free: 1_000, now: 0, looks: 0 }
  const freeBytes = async () => {
    at.looks++
    if (Number.isNaN(at.free)) throw new Error('it does not tell')
    return at.free
  }
  return { at, space: keepReserve(reserve, { freeBytes, stopwatch: () => at.now }) }
}

test('there is room down to the last byte above the reserve, and again when it is back', async () => {
  const { at, space } = disk(1_000)
  const rooms: boolean[] = []
  for (const free of [1_000, 999, 0, 1_001]) {
    at.free = free
    at.now += 1_000
    rooms.push(await space.hasRoom())
  }
  expect(rooms).toEqual([true, false, false, true])
})

test('what has no room is told so', async () => {
  const { at, space } = disk(1_000)
  await space.takeArrivals()
  at.free = 0
  at.now += 1_000
  await expect(space.takeArrivals()).rejects.toThrow(StorageFull)
})

test('a crowd asks the disk once, and once more a moment later', async () => {
  const { at, space } = disk(1)
  const crowd = () => Promise.all(Array.from({ length: 1_000 }, () => space.hasRoom()))
  await crowd()
  at.now = 249
  await crowd()
  expect(at.looks).toBe(1)
  at.now = 250
  await crowd()
  expect(at.looks).toBe(2)
})

test('without a reserve nothing is asked; a disk that does not tell refuses nobody', async () => {
  const none = disk(0)
  none.at.free = 0
  expect([await none.space.hasRoom(), none.at.looks]).toEqual([true, 0])
  const silent = disk(1)
  silent.at.free = Number.NaN
  expect([await silent.space.hasRoom(), silent.at.looks]).toEqual([true, 1])
})

test('free bytes are those that the system tells', async () => {
  const free = await freeBytesFor('.')
  expect(Number.isSafeInteger(free)).toBe(true)
  expect(free).toBeGreaterThan(1_000_000)
  await expect(freeBytesFor('/nowhere/at/all')).rejects.toThrow('ENOENT')
})

describe('a store under its reserve', () => {
  let database: TestDatabase
  let store: Store
  let agent: Identity | undefined
  beforeAll(async () => {
    database = await embedded.fresh()
    const birth = newBirth()
    const before = await openStore(database.url, NOON, unbounded)
    await before.bear(birth, noLimits, NOON)
    await before.close()
    const diskReserve = Number.MAX_SAFE_INTEGER
    store = await openStore(database.url, NOON, { ...unbounded, diskReserve })
    agent = await store.identify(birth.agentTokenHash)
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  test('takes no births and no arrivals, and says that it would not', async () => {
    const [id, feed, room] = ['00000000-0000-7000-8000-000000000000', 'garden', 'garden']
    const [identity, identityType, details] = ['A', 'ai', '{}']
    const what = { id, feed, room, text: 'x', identity, identityType, details }
    const entry = { ...what, labels: [], createdAt: NOON }
    await expect(store.leaveEntry(entry)).rejects.toThrow(StorageFull)
    await expect(store.bear(newBirth(), noLimits, NOON)).rejects.toThrow(StorageFull)
    expect(await store.hasRoom()).toBe(false)
    expect(store.warnings).toEqual([expect.stringContaining('Less than DISK_RESERVE is free')])
    expect(await store.lastArrival()).toMatch(/^0{8}/)
  })

  test('writes what an agent has to keep', async () => {
    if (!agent) throw new Error('nobody was born')
    expect((await store.writeMemory(agent, newWrite(), NOON)).outcome).toBe('saved')
    expect((await store.readMemory(agent, 'plan')).outcome).toBe('found')
    await store.checkWritable(NOON)
  })
})
