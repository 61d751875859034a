/** Whatever is done to a home in whatever order: what its versions, its counts and its plans keep to. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Change } from '../../../src/store/port/memories.ts'
import type { HomeBounds } from '../../../src/store/port/store.ts'
import { timesPromised } from '../../effort.ts'
import { unbounded } from '../../unbounded.ts'
import { type PlainHome, type Planned, plainHome } from './plain-home.ts'
import { changeOf, erasureOf, type Round, rounds, type Step } from './steps.ts'

/** A longer hunt is a larger number here. */
const HOMES = timesPromised(400)

const bounds: fc.Arbitrary<HomeBounds> = fc
  .record({ memories: fc.constantFrom(0, 2), bytes: fc.constantFrom(0, 60) })
  .map((some) => ({ ...unbounded.home, ...some }))

/** What is done in one go, on a home as it was before. */
interface Turn {
  readonly before: PlainHome
  readonly after: PlainHome
  /** None of an erasure. */
  readonly changes: readonly Change[]
  readonly became: Planned | undefined
  readonly now: number
}

type Outcomes = Record<string, number>

/** One after the other, each on what those before it left. */
function changesOf(home: PlainHome, steps: readonly Step[], now: number): Change[] {
  const scratch = home.copy()
  return steps.map((step) => {
    const change = changeOf(scratch, step)
    scratch.change([change], now)
    return change
  })
}

function take(home: PlainHome, each: Round): { turn: Turn; outcomes: readonly string[] } {
  const { now } = each
  const before = home.copy()
  if ('erasing' in each) {
    const { outcome } = home.erase(each.erasing.key, erasureOf(home, each.erasing), now)
    return {
      turn: { before, after: home, changes: [], became: undefined, now },
      outcomes: [outcome],
    }
  }
  const changes = changesOf(home, each.steps, now)
  const became = home.change(changes, now)
  const all = 'faults' in became ? became.faults.map(({ fault }) => fault) : became.results
  const outcomes = all.map(({ outcome }) => outcome)
  return { turn: { before, after: home, changes, became, now }, outcomes }
}

/** How often each outcome came. */
function always(check: (turn: Turn) => void, numRuns = HOMES): Outcomes {
  const met: Outcomes = {}
  const property = fc.property(bounds, rounds(25), (limits, history) => {
    const home = plainHome(limits)
    for (const each of history) {
      const { turn, outcomes } = take(home, each)
      for (const outcome of outcomes) met[outcome] = (met[outcome] ?? 0) + 1
      check(turn)
    }
  })
  fc.assert(property, { numRuns })
  return met
}

test('a version never falls under a key, nor is one ever two things', () => {
  const met = always(
    ({ before, after }) => {
      for (const [key, { head, versions }] of before.lies) {
        const now = after.lies.get(key)
        const falls = !now || now.head.version < head.version || now.head.updatedAt < head.updatedAt
        if (falls) throw new Error(`${key} falls from version ${head.version}`)
        // A rename brings the history of another memory along.
        if (now.head.id !== head.id) continue
        const other = [...versions].find(
          ([version, was]) =>
            now.versions.has(version) && !isDeepStrictEqual(now.versions.get(version), was),
        )
        if (other) throw new Error(`version ${other[0]} of ${key} is another`)
      }
    },
    Math.max(200, HOMES),
  )
  // It would mean little if something of what can happen never did.
  const all = ['saved', 'deleted', 'found', 'missing', 'conflict', 'over_quota', 'too_large']
  for (const each of [...all, 'gone', 'no_version', 'taken', 'erased', 'current']) {
    expect({ [each]: met[each] ?? 0 }).toEqual({
      [each]: expect.toSatisfy((n: number) => n > HOMES / 80),
    })
  }
})

test('whatever changes under a key is a version above what was there', () => {
  always(({ before, after }) => {
    for (const [key, { head, content }] of after.lies) {
      const was = before.lies.get(key)
      const same = isDeepStrictEqual([was?.head.deleted, was?.content], [head.deleted, content])
      if (!same) expect(head.version).toBeGreaterThan(was?.head.version ?? 0)
    }
  })
})

test('what is counted is what is there', () => {
  always(({ after, became }) => {
    if (became && 'counters' in became) expect(became.counters).toEqual(after.count())
  })
})

test('a home is never taken over its bounds, and never kept from shrinking', () => {
  const property = fc.property(bounds, rounds(25), (limits, history) => {
    const home = plainHome(limits)
    for (const each of history) {
      take(home, each)
      const { memories, bytes } = home.count()
      expect(memories).toBeLessThanOrEqual(limits.memories || Infinity)
      expect(bytes).toBeLessThanOrEqual(limits.bytes || Infinity)
    }
    for (const [key, { head }] of home.lies) {
      if (head.deleted) continue
      const change = { verb: 'delete', key, expectedVersion: head.version } as const
      expect(home.change([change], 0)).toMatchObject({ results: [{ outcome: 'deleted' }] })
    }
  })
  fc.assert(property, { numRuns: HOMES })
})

test('a batch is its changes one after the other, or nothing at all', () => {
  let together = 0
  always(({ before, after, changes, became, now }) => {
    if (!became) return
    const alone = before.copy()
    const single = changes.map((change) => alone.change([change], now))
    const faults = single.flatMap((each, at) =>
      'faults' in each ? each.faults.map(({ fault }) => ({ at, fault })) : [],
    )
    if ('faults' in became) {
      expect(became.faults).toEqual(faults)
      expect(after.lies).toEqual(before.lies)
      return
    }
    expect(faults).toEqual([])
    expect(became.results).toEqual(
      single.flatMap((each) => ('results' in each ? each.results : [])),
    )
    expect(after.lies).toEqual(alone.lies)
    if (changes.length > 1) together++
  })
  expect(together).toBeGreaterThan(HOMES / 4)
})
