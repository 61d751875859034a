import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { someOrderExplains } from './every-order.ts'
import { faultsOf, type Operation, type Read, type Write } from './linearizable.ts'

const saved = (at: number, expectedVersion: number, payload: string): Write => ({
  kind: 'write',
  key: 'k',
  invokedAt: at,
  completedAt: at + 5,
  expectedVersion,
  payload,
  outcome: { is: 'saved', version: expectedVersion + 1, payload },
})

const unknown = (at: number, expectedVersion: number, payload: string): Write => ({
  ...saved(at, expectedVersion, payload),
  completedAt: Infinity,
  outcome: { is: 'unknown' },
})

const conflict = (at: number, expectedVersion: number, currentVersion: number): Write => ({
  ...saved(at, expectedVersion, `lost at ${at}`),
  outcome: { is: 'conflict', currentVersion },
})

const read = (at: number, version: number, payload: string): Read => ({
  kind: 'read',
  key: 'k',
  invokedAt: at,
  completedAt: at + 5,
  version,
  payload,
})

/** Three versions, one after the other, each read after it was written. */
const sound: readonly Operation[] = [
  read(0, 0, ''),
  saved(10, 0, 'a'),
  read(20, 1, 'a'),
  saved(30, 1, 'b'),
  conflict(40, 1, 2),
  read(50, 2, 'b'),
  saved(60, 2, 'c'),
  read(70, 3, 'c'),
]

const without = (index: number) => sound.filter((_, i) => i !== index)

describe('a history that one register explains has no fault', () => {
  const histories: Readonly<Record<string, readonly Operation[]>> = {
    'one after the other': sound,
    'an empty one': [],
    'a read beside the write it saw': [saved(10, 0, 'a'), read(8, 1, 'a'), read(12, 0, '')],
    'an unknown write that landed': [unknown(0, 0, 'a'), read(90, 1, 'a'), saved(95, 1, 'b')],
    'an unknown write that never landed': [unknown(0, 0, 'a'), read(90, 0, '')],
    'two unknown writes, one seen': [unknown(0, 0, 'a'), unknown(0, 0, 'b'), read(90, 1, 'b')],
    'an unknown write seen only by the next': [unknown(0, 0, 'a'), saved(90, 1, 'b')],
    'keys of their own': [saved(0, 0, 'a'), { ...saved(0, 0, 'b'), key: 'other' }],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).toEqual([])
    if (history.every(({ key }) => key === 'k')) expect(someOrderExplains(history)).toBe(true)
  })
})

describe('a corrupted history is told apart', () => {
  const histories: Readonly<Record<string, readonly Operation[]>> = {
    'a lost update': [...without(7), read(70, 2, 'b')],
    'an acknowledged write that is gone': [saved(0, 0, 'a'), read(10, 0, '')],
    'an acknowledged version that was never reached': [...sound, saved(80, 4, 'e')],
    'a stale read': [...sound, read(80, 2, 'b')],
    'a stale conflict': [...sound, conflict(80, 3, 2)],
    'a read of the future': [read(0, 1, 'a'), saved(10, 0, 'a')],
    'a torn value': [...without(7), read(70, 3, 'c and half of b')],
    'a value of another version': [...without(7), read(70, 3, 'b')],
    'two readers, two values': [...sound, read(70, 3, 'a')],
    'a duplicate version': [...sound, { ...saved(60, 2, 'd') }],
    'a version from nowhere': [read(0, 1, 'a')],
    'a version that was skipped': [saved(0, 0, 'a'), saved(10, 2, 'c')],
    'a write that made the wrong version': [
      { ...saved(0, 0, 'a'), outcome: { is: 'saved', version: 2, payload: 'a' } },
    ],
    'an answer that is not what was sent': [
      { ...saved(0, 0, 'a'), outcome: { is: 'saved', version: 1, payload: 'A' } },
    ],
    'a refused write that is there': [
      { ...saved(0, 0, 'a'), outcome: { is: 'refused' } },
      read(10, 1, 'a'),
    ],
    'a conflict with the version that was current': [saved(0, 0, 'a'), conflict(10, 1, 1)],
    'an unknown write before its invocation': [read(0, 1, 'a'), unknown(50, 0, 'a')],
    'an unknown write that landed twice': [
      unknown(0, 0, 'a'),
      saved(10, 1, 'b'),
      read(20, 2, 'b'),
      read(30, 1, 'a'),
    ],
  }
  test.each(Object.entries(histories))('%s', (_, history) => {
    expect(faultsOf(history)).not.toEqual([])
    expect(someOrderExplains(history)).toBe(false)
  })

  test('and its key is named', () => {
    const elsewhere = { ...read(0, 1, 'a'), key: 'elsewhere' }
    expect(faultsOf([...sound, elsewhere])).toEqual([
      expect.stringMatching(/^elsewhere: version 1 was written by nobody$/),
    ])
  })
})

/** Short histories of one key: what a register did, told with other times and other answers. */
const spans = fc
  .record({ invokedAt: fc.nat(12), lasts: fc.nat(6) })
  .map(({ invokedAt, lasts }) => ({ key: 'k', invokedAt, completedAt: invokedAt + lasts }))

const versions = fc.nat(3)

const operationAt = (index: number): fc.Arbitrary<Operation> => {
  const payload = `p${index}`
  const write = { kind: 'write' as const, payload }
  return fc.oneof(
    fc
      .record({ span: spans, version: versions, seen: fc.nat(4) })
      .map(({ span, version, seen }) => ({
        ...span,
        kind: 'read' as const,
        version,
        payload: version === 0 ? '' : `p${seen}`,
      })),
    fc.record({ span: spans, expectedVersion: versions }).map(({ span, expectedVersion }) => ({
      ...span,
      ...write,
      expectedVersion,
      outcome: { is: 'saved' as const, version: expectedVersion + 1, payload },
    })),
    fc.record({ span: spans, expectedVersion: versions }).map(({ span, expectedVersion }) => ({
      ...span,
      ...write,
      completedAt: Infinity,
      expectedVersion,
      outcome: { is: 'unknown' as const },
    })),
    fc
      .record({ span: spans, expectedVersion: versions, currentVersion: versions })
      .map(({ span, expectedVersion, currentVersion }) => ({
        ...span,
        ...write,
        expectedVersion,
        outcome: { is: 'conflict' as const, currentVersion },
      })),
  )
}

test('its verdict is that of trying every order', () => {
  const verdicts = { sound: 0, corrupt: 0 }
  fc.assert(
    fc.property(fc.tuple(...[0, 1, 2, 3, 4].map(operationAt)), fc.nat(5), (all, length) => {
      const history = all.slice(0, length)
      const expected = someOrderExplains(history)
      verdicts[expected ? 'sound' : 'corrupt']++
      return (faultsOf(history).length === 0) === expected
    }),
    { numRuns: 20_000 },
  )
  // The comparison would mean little if one verdict were rare.
  expect(Math.min(verdicts.sound, verdicts.corrupt)).toBeGreaterThan(2_000)
})
