/** What an import or a rollback does to each key and to the counters of a home, and when it may not. */
import { describe, expect, test } from 'vitest'
import {
  type Brought,
  followBrought,
  HIGHEST_AS_IT_WAS,
  isPinnedAfter,
  ROLLBACK,
  type Way,
} from '../../../src/store/bring.ts'
import type { Head } from '../../../src/store/change.ts'
import { NO_MARKS } from '../../../src/store/marks.ts'
import { type Counters, isOver } from '../../../src/store/plan.ts'
import type { HomeBounds } from '../../../src/store/port/store.ts'
import {
  type KeptVersion,
  MOST_CONFLICTS,
  type OnConflict,
} from '../../../src/store/port/transfer.ts'
import { unbounded } from '../../unbounded.ts'

const NOW = 1_000

const before: Counters = { memories: 3, bytes: 300, history: 50, deleted: 2, floor: 6, vectors: 9 }

/** A version of 10 bytes. */
const version = (overrides: Partial<KeptVersion> = {}): KeptVersion => ({
  ...{ key: 'a', id: 'new', version: 7, operation: 'write', by: undefined },
  ...{ createdAt: 1, updatedAt: 2, content: { text: 'eight by', metadata: '{}' } },
  ...overrides,
})

const DELETION = { operation: 'delete', content: undefined } as const

const brought = (...versions: KeptVersion[]): Brought => ({
  ...{ key: versions[0]?.key ?? '', versions, found: versions.length },
})

const deletion = brought(version(DELETION))

const head = (overrides: Partial<Head> = {}): Head => ({
  ...{ id: 'old', version: 4, createdAt: 5, updatedAt: 6, deleted: false, size: 100, kept: true },
  marks: NO_MARKS,
  ...overrides,
})

const remains = head({ deleted: true, size: 0 })

const on = (onConflict: OnConflict): Way => ({ onConflict, isRollback: false })
const REPLACE = on('replace')

/** What becomes of one key. */
function met(sent: Brought, found?: Head, way = REPLACE, now = NOW) {
  const following = followBrought(before, way, unbounded.home)
  const effect = following.meet(sent, found, now)
  const { outcome: _, ...told } = following.answer()
  return { effect, counters: following.counters(), refusal: following.refusal(), told }
}

const followed = (sent: readonly Brought[], found: Head | undefined, way: Way, bounds = {}) => {
  const following = followBrought(before, way, { ...unbounded.home, ...bounds })
  for (const each of sent) following.meet(each, found, NOW)
  return following
}

const named = (length: number, overrides?: Partial<KeptVersion>): Brought[] =>
  Array.from({ length }, (_, n) => brought(version({ key: `k${n}`, ...overrides })))

/** The memory after a change. */
const memoryAfter = (...change: Parameters<typeof met>) => {
  const { effect } = met(...change)
  return effect?.effect === 'keep' ? effect.memory : undefined
}

const content = { text: 'eight by', metadata: '{}' }
const ONE = { imported: 1, skipped: 0, conflicts: [] }
const NONE = { imported: 0, skipped: 1, conflicts: [] }

describe('an import', () => {
  const versions = [version({ version: 5 }), version({ version: 6, ...DELETION }), version()]

  test('brings what comes where nothing was as it was, with its history', () => {
    expect(met(brought(...versions))).toEqual({
      effect: { effect: 'bring', key: 'a', versions, marks: NO_MARKS },
      counters: { ...before, memories: 4, bytes: 310, history: 60 },
      ...{ refusal: undefined, told: ONE },
    })
  })

  test('brings what was deleted before it came, and has no text', () => {
    const sent = brought(version({ version: 6 }), version(DELETION))
    const { effect, counters, told } = met(sent)
    expect(effect).toEqual({ effect: 'bring', key: 'a', versions: sent.versions, marks: NO_MARKS })
    expect([counters, told]).toEqual([{ ...before, history: 60, deleted: 3 }, ONE])
  })

  test('makes it the next version of the memory that it replaces, which is history then', () => {
    const memory = { id: 'old', key: 'a', ...content, version: 5, createdAt: 5, updatedAt: NOW }
    expect(met(brought(...versions), head())).toEqual({
      effect: { effect: 'keep', operation: 'import', memory, size: 10, marks: NO_MARKS },
      counters: { ...before, bytes: 210, history: 150 },
      ...{ refusal: undefined, told: { ...ONE, conflicts: ['a'], historyLeftOut: 2 } },
    })
  })

  test('makes it the next version where something was deleted', () => {
    const memory = { id: 'new', key: 'a', ...content, version: 5, createdAt: 1, updatedAt: NOW }
    for (const onConflict of ['fail', 'skip', 'replace'] as const) {
      expect(met(brought(version()), remains, on(onConflict))).toEqual({
        effect: { effect: 'keep', operation: 'import', memory, size: 10, marks: NO_MARKS },
        counters: { ...before, memories: 4, bytes: 310, deleted: 1 },
        ...{ refusal: undefined, told: ONE },
      })
    }
  })

  test('begins above the floor unless its version is above that already', () => {
    const { effect, counters } = met(brought(version({ version: 6 })))
    expect(effect).toMatchObject({ effect: 'keep', memory: { id: 'new', version: 7 } })
    expect(counters).toEqual({ ...before, memories: 4, bytes: 310 })
    expect(met(brought(version({ version: 7 }))).effect).toMatchObject({ effect: 'bring' })
  })

  test('keeps the number of a version only up to the highest that it may have', () => {
    const highest = HIGHEST_AS_IT_WAS
    const as = (newest: number) =>
      met(brought(version({ version: newest - 1 }), version({ version: newest })))
    expect(as(highest).effect).toMatchObject({ effect: 'bring' })
    const { effect, counters, told } = as(highest + 1)
    expect(effect).toMatchObject({ effect: 'keep', memory: { id: 'new', version: 7 } })
    expect(counters).toEqual({ ...before, memories: 4, bytes: 310 })
    expect(told).toEqual({ ...ONE, historyLeftOut: 1 })
  })

  test('leaves out what was deleted, wherever it is not new', () => {
    const low = brought(version({ version: 6, ...DELETION }))
    for (const [sent, found] of [
      [deletion, head()],
      [deletion, remains],
      [low, undefined],
    ] as const) {
      const { effect, counters, told } = met(sent, found)
      expect([effect, counters, told]).toEqual([undefined, before, NONE])
    }
  })

  test.each(['skip', 'fail'] as const)('leaves out what is there already: %s', (onConflict) => {
    const { effect, counters, told } = met(brought(...versions), head(), on(onConflict))
    expect([effect, counters]).toEqual([undefined, before])
    expect(told).toEqual({ ...NONE, conflicts: ['a'] })
  })

  test('does not replace a protected memory, and says which', () => {
    const found = head({ marks: { protected: true } })
    const { effect, counters, told } = met(brought(...versions), found)
    expect([effect, counters]).toEqual([undefined, before])
    expect(told).toEqual({ ...NONE, conflicts: ['a'], protected: ['a'] })
    expect(met(deletion, found).told).toEqual(NONE)
    expect(met(brought(...versions), found, on('skip')).told.protected).toBeUndefined()
  })

  test('protects what was protected where it comes from', () => {
    for (const found of [undefined, remains, head()]) {
      for (const wanted of [true, false, undefined]) {
        const { effect } = met(brought(version({ protected: wanted })), found)
        expect(effect).toMatchObject({ marks: { protected: wanted ?? false } })
      }
    }
    const gone = brought(version({ ...DELETION, protected: true }))
    expect(met(gone).effect).toMatchObject({ effect: 'bring', marks: NO_MARKS })
  })

  test('counts the history that the source has and it left out, not what it did not see', () => {
    const sent = { ...brought(...versions), found: 60 }
    expect(met(sent, head()).told).toMatchObject({ historyLeftOut: 59 })
    for (const { told } of [
      met(sent),
      met(sent, head(), on('skip')),
      met(brought(version()), head()),
    ]) {
      expect(told.historyLeftOut).toBeUndefined()
    }
  })
})

describe('the times of a version', () => {
  test('are never before those of what it follows, though the clock was set back', () => {
    for (const way of [REPLACE, ROLLBACK]) {
      const after = memoryAfter(brought(version()), head({ updatedAt: NOW + 5 }), way)
      expect(after).toMatchObject({ createdAt: 5, updatedAt: NOW + 5 })
    }
    const later = { ...head(), updatedAt: NOW + 5 }
    expect(met(deletion, later, ROLLBACK).effect).toMatchObject({
      deleted: { version: 5, deletedAt: NOW + 5 },
    })
  })

  test('never say that it was created after it was made', () => {
    const sent = brought(version({ createdAt: NOW + 7, version: 6 }))
    const ahead = { createdAt: NOW, updatedAt: NOW }
    expect(memoryAfter(sent, remains)).toMatchObject(ahead)
    expect(memoryAfter(sent, head({ createdAt: NOW + 7 }))).toMatchObject(ahead)
    // Forgotten, it was deleted no earlier than it was created.
    const both = { createdAt: NOW + 7, updatedAt: NOW + 7 }
    expect(memoryAfter(sent, undefined)).toMatchObject(both)
  })
})

describe('a rollback', () => {
  const restored = version({ operation: 'restore', version: 1 })

  test('makes what was there the next version, protected or not, which it stays', () => {
    for (const isProtected of [false, true]) {
      const { effect, counters, told } = met(
        brought(restored),
        head({ marks: { protected: isProtected } }),
        ROLLBACK,
      )
      const memory = { id: 'old', key: 'a', ...content, version: 5, createdAt: 5, updatedAt: NOW }
      expect(effect).toEqual({
        ...{
          effect: 'keep',
          operation: 'restore',
          memory,
          size: 10,
          marks: { protected: isProtected },
        },
      })
      expect(counters).toEqual({ ...before, bytes: 210, history: 150 })
      expect(told).toEqual({ ...ONE, conflicts: ['a'], deleted: 0 })
    }
  })

  test('brings back what was deleted, and never a version as it was', () => {
    const back = met(brought(restored), remains, ROLLBACK)
    expect(back.effect).toMatchObject({ effect: 'keep', memory: { id: 'new', version: 5 } })
    expect(back.counters).toEqual({ ...before, memories: 4, bytes: 310, deleted: 1 })
    const high = brought({ ...restored, version: 90 })
    const { effect, counters } = met(high, undefined, ROLLBACK)
    expect(effect).toMatchObject({ effect: 'keep', memory: { id: 'new', version: 7 } })
    expect(counters).toEqual({ ...before, memories: 4, bytes: 310 })
  })

  test('deletes what was not there, protected or not', () => {
    for (const isProtected of [false, true]) {
      const found = head({ marks: { protected: isProtected } })
      const { effect, counters, told } = met(deletion, found, ROLLBACK)
      const deleted = { version: 5, deletedAt: NOW }
      expect(effect).toEqual({ effect: 'delete', key: 'a', deleted })
      expect(counters).toEqual({ ...before, memories: 2, bytes: 200, history: 150, deleted: 3 })
      expect(told).toEqual({ ...ONE, deleted: 1 })
    }
  })

  test('has nothing to delete where nothing is', () => {
    for (const found of [remains, undefined]) {
      const { effect, counters, told } = met(deletion, found, ROLLBACK)
      expect([effect, counters]).toEqual([undefined, before])
      expect(told).toEqual({ ...NONE, deleted: 0 })
    }
  })

  test('is over the quota as an import is, but has no conflicts', () => {
    const refusal = (bounds: Partial<HomeBounds>, found?: Head) =>
      followed([brought(restored)], found, ROLLBACK, bounds).refusal()
    expect(refusal({ memories: 3 })).toEqual({ outcome: 'over_quota' })
    expect(refusal({ memories: 3 }, head())).toBeUndefined()
  })
})

test('the counters add up over all keys, and what else is known of the home stays', () => {
  const home = { ...before, lastEvent: 12 }
  const following = followBrought(home, REPLACE, unbounded.home)
  expect(following.counters()).toEqual(home)
  for (const each of named(2)) following.meet(each, undefined, NOW)
  following.meet(brought(version()), head(), NOW)
  following.meet(deletion, head(), NOW)
  expect(following.counters()).toEqual({ ...home, memories: 5, bytes: 230, history: 150 })
  const told = { imported: 3, skipped: 1, conflicts: ['a'] }
  expect(following.answer()).toEqual({ outcome: 'imported', ...told })
})

describe('of many keys the first are named', () => {
  const all = named(MOST_CONFLICTS + 1)
  const first = all.slice(0, MOST_CONFLICTS).map(({ key }) => key)

  test('that conflict, where it is to fail then', () => {
    const following = followBrought(before, on('fail'), unbounded.home)
    expect(following.refusal()).toBeUndefined()
    for (const each of all) following.meet(each, head(), NOW)
    expect(following.refusal()).toEqual({ outcome: 'conflict', conflicts: first })
  })

  test.each(['skip', 'replace'] as const)('that conflict, where it goes on: %s', (onConflict) => {
    const following = followed(all, head(), on(onConflict))
    expect([following.refusal(), following.answer().conflicts]).toEqual([undefined, first])
  })

  test('that are protected', () => {
    const answer = followed(all, head({ marks: { protected: true } }), REPLACE).answer()
    expect(answer).toEqual({
      ...{ outcome: 'imported', imported: 0, skipped: all.length },
      ...{ conflicts: first, protected: first },
    })
  })
})

describe('what is over the quota', () => {
  const refusal = (bounds: Partial<HomeBounds>, sent = named(2), found?: Head, way = REPLACE) =>
    followed(sent, found, way, bounds).refusal()
  const over = { outcome: 'over_quota' }

  test('is more memories, or more bytes, than a home may have, with its vectors', () => {
    expect([refusal({ memories: 5 }), refusal({ memories: 4 })]).toEqual([undefined, over])
    expect([refusal({ bytes: 329 }), refusal({ bytes: 328 })]).toEqual([undefined, over])
  })

  test('is no home that was over it before and does not grow', () => {
    const bounds = { memories: 2, bytes: 200 }
    expect(refusal(bounds, named(2), head())).toBeUndefined()
    expect(refusal(bounds, named(2), head({ size: 10 }))).toBeUndefined()
    expect(refusal(bounds, named(2), head({ size: 9 }))).toEqual(over)
  })

  test('is known once all has been met: what follows may make room', () => {
    const following = followBrought(before, REPLACE, { ...unbounded.home, bytes: 310 })
    following.meet(brought(version()), undefined, NOW)
    expect(following.refusal()).toEqual(over)
    following.meet(brought(version({ key: 'b' })), head(), NOW)
    expect(following.refusal()).toBeUndefined()
  })

  test('is told only if there are no conflicts that forbid it', () => {
    const sent = named(70)
    const told = refusal({ memories: 2, events: 3 }, sent, head(), on('fail'))
    expect(told).toEqual({ outcome: 'conflict', conflicts: sent.map(({ key }) => key) })
  })

  test('is more keys than a home can have, live and deleted, whatever becomes of them', () => {
    for (const found of [undefined, head()]) {
      const bounds = { memories: 2, events: 3 }
      const following = followed(named(69, DELETION), found, REPLACE, bounds)
      expect([following.isTooMuch(), following.refusal()]).toEqual([false, undefined])
      following.meet(deletion, found, NOW)
      expect([following.isTooMuch(), following.refusal()]).toEqual([true, over])
    }
  })

  test('is no number of keys where memories or events have no limit', () => {
    for (const bounds of [{ memories: 2 }, { events: 3 }, {}]) {
      const following = followed(named(1_000, DELETION), undefined, REPLACE, bounds)
      expect([following.isTooMuch(), following.refusal()]).toEqual([false, undefined])
    }
  })
})

describe('that it will be over the quota is certain', () => {
  const isCertain = (bounds: Partial<HomeBounds>, sent: Brought[], found?: Head, way = REPLACE) =>
    followed(sent, found, way, bounds).isTooMuch()

  test('where what it brings is, without all that the home has', () => {
    for (const found of [undefined, head()]) {
      expect([4, 5].map((n) => isCertain({ memories: 4 }, named(n), found))).toEqual([false, true])
      expect([33, 34].map((n) => isCertain({ bytes: 330 }, named(n), found))).toEqual([false, true])
    }
  })

  test('not of what is deleted or left out', () => {
    const bounds = { memories: 4, bytes: 330 }
    expect(isCertain(bounds, named(50, DELETION))).toBe(false)
    expect(isCertain(bounds, named(50), head(), on('skip'))).toBe(false)
    expect(isCertain(bounds, named(50), head({ marks: { protected: true } }))).toBe(false)
  })

  test('not of a home that has as much already', () => {
    expect([3, 4].map((n) => isCertain({ memories: 2 }, named(n)))).toEqual([false, true])
    expect([30, 31].map((n) => isCertain({ bytes: 200 }, named(n)))).toEqual([false, true])
  })
})

test('a home that is over its bounds may shrink, and change what it has', () => {
  const home = { ...before, vectors: 0 }
  const bounds = { ...unbounded.home, memories: 2, bytes: 200 }
  expect(isOver(home, home, bounds)).toBe(false)
  expect(isOver(home, { ...home, bytes: 299 }, bounds)).toBe(false)
  expect(isOver(home, { ...home, memories: 4 }, bounds)).toBe(true)
  expect(isOver(home, { ...home, bytes: 301 }, bounds)).toBe(true)
  const empty = { ...home, memories: 0, bytes: 0 }
  expect(isOver(empty, { ...empty, memories: 2, bytes: 200 }, bounds)).toBe(false)
})

test('a memory is pinned if the newest version that is brought is', () => {
  const pinned = version({ content: { text: '', metadata: '{"pinned":true}' } })
  const outcomes = [[pinned], [version(), pinned], [pinned, version()], [pinned, version(DELETION)]]
  expect([...outcomes, []].map(isPinnedAfter)).toEqual([true, true, false, false, false])
})
