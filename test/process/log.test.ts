/** What a home says of itself after a crash is compared with eyes that see. */
import { describe, expect, test } from 'vitest'
import type { Change } from '../history/operations.ts'
import { disagreements, type Event, halves } from './log.ts'

const event = (id: number, type: string, key: string, version: number): Event => ({
  ...{ id, type, key, version },
})

const version = (version: number, operation: string) => ({ version, operation })

const deleted = (key: string, version: number): Change => ({
  ...{ kind: 'delete', key, invokedAt: 0, completedAt: 1, expectedVersion: version - 1 },
  outcome: { is: 'deleted', version },
})

const events = [
  event(1, 'write', 'a', 1),
  event(2, 'write', 'b', 1),
  event(3, 'delete', 'a', 2),
  event(4, 'restore', 'a', 3),
  event(5, 'erase', 'b', 2),
]
const a = [version(3, 'restore'), version(2, 'delete'), version(1, 'write')]
const kept = new Map([['a', a]])

test('what agrees has no faults', () => {
  expect(disagreements(events, kept, [deleted('a', 2), deleted('b', 2)])).toEqual([])
  expect(disagreements(events, new Map([['a', a.slice(0, 2)]]), [])).toEqual([])
})

describe('what does not agree is told', () => {
  const of = (at: number) => events.filter((_, index) => index !== at)
  test.each([
    ['a gap in the log', of(1), kept],
    ['an event that is lost', of(4), kept],
    ['a version without its event', events.slice(0, 3), new Map([['a', a]])],
    ['an event without its version', events, new Map([['a', a.slice(1)]])],
    ['a version of which the log tells otherwise', events, new Map([['a', [version(3, 'write')]]])],
    ['versions of which the log knows nothing', events, new Map([...kept, ['c', a]])],
    ['what outlived its erasure', events, new Map([...kept, ['b', [version(1, 'write')]]])],
    ['a memory of which nothing is left', events, new Map()],
  ])('%s', (_, told, stored) => {
    expect(disagreements(told, stored, [deleted('a', 2), deleted('b', 2)])).not.toEqual([])
  })

  test('a change that was answered and is not in the log', () => {
    expect(disagreements(events, kept, [deleted('a', 3)])).not.toEqual([])
    expect(disagreements(events, kept, [deleted('a', 4)])).not.toEqual([])
  })
})

test('half of a batch is told from a whole one', () => {
  const left = event(1, 'write', 'l', 1)
  const right = event(2, 'write', 'r', 1)
  expect(
    halves([left, right, event(3, 'write', 'l', 2), event(4, 'write', 'r', 2)], 'l', 'r'),
  ).toEqual([])
  for (const own of [
    ...[[left], [right], [left, event(3, 'write', 'r', 1)], [left, event(2, 'write', 'r', 2)]],
    ...[
      [left, event(2, 'delete', 'r', 1)],
      [left, right, event(3, 'write', 'r', 2)],
    ],
  ]) {
    expect(halves(own, 'l', 'r')).not.toEqual([])
  }
})
