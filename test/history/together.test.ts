import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultsOf } from './linearizable.ts'
import type { Operation, Read } from './operations.ts'
import { faultsTogether } from './together.ts'
import { lost } from './told.ts'

/** Short histories of one key: what a register did, told with other times and other answers. */
const spans = fc
  .record({ invokedAt: fc.nat(12), lasts: fc.nat(6) })
  .map(({ invokedAt, lasts }) => ({ key: 'k', invokedAt, completedAt: invokedAt + lasts }))

const versions = fc.nat(3)

const payloads = fc.constantFrom('p0', 'p1', 'p2', 'p0p1', 'p1p2')

const reads: fc.Arbitrary<Operation> = fc
  .record({ span: spans, version: versions, seen: payloads })
  .map(({ span, version, seen }) => ({
    ...span,
    kind: 'read',
    version,
    payload: version === 0 ? '' : seen,
  }))

interface Asked {
  readonly change: Exclude<Operation, Read>
  /** What else is answered than what would be so most often. */
  readonly other: number
}

/** As where the expected version is current, or something was deleted once. */
function answered({ change, other }: Asked): Operation {
  const { kind, expectedVersion = other } = change
  const version = expectedVersion > 0 ? expectedVersion + 1 : other
  if (kind === 'delete') return { ...change, outcome: { is: 'deleted', version } }
  const added = kind === 'restore' ? 'p0' : change.payload
  const payload = kind === 'append' && other === 1 ? `p0${added}` : added
  return { ...change, outcome: { is: 'saved', version, payload } }
}

function refused({ change, other }: Asked): Operation {
  if (change.kind === 'edit' && other === 2) {
    return { ...change, outcome: { is: 'not_once', occurrences: 2, currentVersion: 1 } }
  }
  if (change.kind === 'edit' && other === 3) {
    return { ...change, outcome: { is: 'not_once', occurrences: 0, currentVersion: 1 } }
  }
  if ((change.kind === 'delete' || change.kind === 'edit') && other > 2) {
    return { ...change, outcome: { is: 'missing', deletedVersion: other === 3 ? 2 : undefined } }
  }
  const deletedVersion = other === 0 ? 2 : undefined
  return { ...change, outcome: { is: 'conflict', currentVersion: other % 4, deletedVersion } }
}

const unanswered = ({ change }: Asked): Operation => lost(change)

const operationAt = (index: number): fc.Arbitrary<Operation> => {
  const payload = `p${index}`
  const changes = fc
    .record({
      span: spans,
      expectedVersion: versions,
      kind: fc.constantFrom(
        ...(['write', 'write', 'delete', 'delete', 'append', 'edit', 'restore'] as const),
      ),
      old: fc.constantFrom('p0', 'p1', 'p'),
      other: fc.nat(4),
    })
    .map(({ span, expectedVersion, kind, old, other }): Asked => {
      const all = { ...span, expectedVersion, payload, outcome: { is: 'refused' } as const }
      if (kind === 'restore') return { change: { ...all, kind, version: 1 }, other }
      if (kind === 'append' && other > 1) {
        return { change: { ...all, kind, expectedVersion: undefined }, other }
      }
      if (kind === 'edit') {
        const expected = other > 1 ? undefined : expectedVersion
        return { change: { ...all, kind, old, expectedVersion: expected }, other }
      }
      return { change: { ...all, kind }, other }
    })
  return fc.oneof(
    { weight: 3, arbitrary: reads },
    { weight: 3, arbitrary: changes.map(answered) },
    { weight: 3, arbitrary: changes.map(unanswered) },
    { weight: 1, arbitrary: changes.map(refused) },
  )
}

test('the verdict of one key is that of trying every order', () => {
  const verdicts = { sound: 0, corrupt: 0 }
  fc.assert(
    fc.property(fc.tuple(...[0, 1, 2, 3, 4].map(operationAt)), fc.nat(5), (all, length) => {
      const history = all.slice(0, length)
      const expected = faultsTogether(history).length === 0
      verdicts[expected ? 'sound' : 'corrupt']++
      return (faultsOf(history).length === 0) === expected
    }),
    { numRuns: 10_000 },
  )
  // The comparison would mean little if one verdict were rare.
  expect(Math.min(verdicts.sound, verdicts.corrupt)).toBeGreaterThan(1_000)
})
