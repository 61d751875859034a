/** What an erasure takes of a memory, what it leaves, and what is counted then. */
import { describe, expect, test } from 'vitest'
import type { Head } from '../../../src/store/change.ts'
import { type Link, numbersOf, planErasure } from '../../../src/store/erasure.ts'
import { NO_MARKS } from '../../../src/store/marks.ts'
import type { Counters } from '../../../src/store/plan.ts'
import type { Erasure } from '../../../src/store/port/memories.ts'

const NOW = 1_000

const before: Counters = { memories: 3, bytes: 300, history: 90, deleted: 2, floor: 6, vectors: 0 }

const head = (overrides: Partial<Head> = {}): Head => ({
  ...{ id: 'id', version: 4, createdAt: 5, updatedAt: 6, deleted: false, size: 40, kept: true },
  marks: NO_MARKS,
  ...overrides,
})

const deleted = head({ deleted: true, size: 0 })

/** Newest first; version 1 is not kept, but still named. */
const versions: readonly Link[] = [
  { n: 14, previous: 13, version: 4, size: 40 },
  { n: 13, previous: 12, version: 3, size: 30 },
  { n: 12, previous: 11, version: 2, size: 20 },
]

const ended: readonly Link[] = versions.map((each, at) => (at ? each : { ...each, size: 0 }))

function erased(erasure: Erasure, found: Head = head(), links = versions, now = NOW) {
  const planned = planErasure(erasure, found, links, before, now)
  if (planned === 'current') throw new Error(planned)
  return { ...planned, gone: numbersOf(planned.gone) }
}

describe('an erasure of all', () => {
  test('leaves what a delete leaves, with a version more', () => {
    expect(erased('all')).toEqual({
      gone: [2, 3, 4],
      relinked: [],
      left: { version: 5, deletedAt: NOW },
      made: 5,
      counters: { ...before, memories: 2, deleted: 3, bytes: 260, history: 40 },
    })
  })

  test('of what was deleted makes no version', () => {
    expect(erased('all', deleted, ended)).toEqual({
      gone: [2, 3, 4],
      relinked: [],
      left: { version: 4, deletedAt: 6 },
      made: undefined,
      counters: { ...before, history: 40 },
    })
  })

  test('where nothing is kept takes nothing', () => {
    const { gone, made, counters } = erased(
      'all',
      head({ deleted: true, size: 0, kept: false }),
      [],
    )
    expect([gone, made, counters]).toEqual([[], undefined, before])
  })

  test('is not told as before what it ends', () => {
    expect(erased('all', head(), versions, 3).left).toEqual({ version: 5, deletedAt: 6 })
  })
})

describe('an erasure of what was', () => {
  const history = { ...before, history: 40 }

  test('leaves what is there', () => {
    const relinked = [{ n: 14, previous: null }]
    const left = { left: undefined, made: undefined }
    expect(erased('history')).toEqual({ gone: [2, 3], relinked, ...left, counters: history })
    expect(erased('history', deleted, ended)).toMatchObject({ gone: [2, 3], counters: history })
  })

  test('takes those that are named, and those that stay name each other', () => {
    const relinked = [
      { n: 14, previous: 12 },
      { n: 12, previous: null },
    ]
    const counters = { ...before, history: 60 }
    expect(erased([3, 77])).toMatchObject({ gone: [3], relinked, left: undefined, counters })
  })

  test('touches no version that names the right one already', () => {
    expect(erased([2]).relinked).toEqual([{ n: 13, previous: null }])
  })

  test('never takes the current one, nor the delete that was last', () => {
    expect(planErasure([2, 4], head(), versions, before, NOW)).toBe('current')
    expect(erased([2, 4], deleted, ended).gone).toEqual([2])
  })
})

test('versions are told in the order of their numbers', () => {
  const [two, ten] = [2, 10].map((version) => ({ n: version, previous: null, version, size: 0 }))
  expect(two && ten && numbersOf([ten, two])).toEqual([2, 10])
})
