/** What is done to a home at random: most of it is told the versions that are there. */
import fc from 'fast-check'
import { isLiving } from '../../../src/store/change.ts'
import type { Change, Erasure } from '../../../src/store/port/memories.ts'
import type { PlainHome } from './plain-home.ts'

const VERBS = [
  ...(['write', 'write', 'write', 'write', 'patch', 'append', 'append', 'edit', 'delete'] as const),
  ...(['delete', 'restore', 'restore', 'rename', 'rename', 'read'] as const),
]

export const KEYS = ['a', 'b', 'c', 'd'] as const

/** Times step back as well. */
export const BEGIN = 1_000

const key = fc.constantFrom('a', 'a', 'a', ...KEYS)

const step = fc.record({
  id: fc.uuid({ version: 7 }),
  verb: fc.constantFrom(...VERBS),
  key,
  to: key,
  text: fc.constantFrom('a', 'слово', 'x'.repeat(7), 'long '.repeat(5)),
  metadata: fc.constantFrom('{}', '{"pinned":true}'),
  /** How far the expected version is from the one that is there. */
  behind: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
  /** Which of the versions, from 0 for none to 1 for more than there are. */
  share: fc.double({ min: 0, max: 1, noNaN: true }),
})

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const erasure = fc.record({
  key,
  kind: fc.constantFrom('all', 'history', 'some' as const),
  shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 }),
})

export type Erasing = typeof erasure extends fc.Arbitrary<infer T> ? T : never

export type Round =
  | { readonly now: number; readonly steps: readonly Step[] }
  | { readonly now: number; readonly erasing: Erasing }

const now = fc.integer({ min: BEGIN, max: BEGIN + 50 })

export const round: fc.Arbitrary<Round> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ now, steps: fc.array(step, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ now, erasing: erasure }) },
)

export const rounds = (maxLength: number, minLength = 1): fc.Arbitrary<Round[]> =>
  fc.array(round, { minLength, maxLength, size: 'max' })

const latest = (home: PlainHome, at: string): number => home.lies.get(at)?.head.version ?? 0

const versionAt = (home: PlainHome, at: string, share: number): number =>
  Math.max(1, Math.round(share * (latest(home, at) + 1)))

/** The change that a step is on what is there. */
export function changeOf(home: PlainHome, sent: Step): Change {
  const { id, key, to, text, metadata, verb, behind, share } = sent
  const head = home.lies.get(key)?.head
  const expectedVersion = Math.max(0, (isLiving(head) ? head.version : 0) - behind)
  const at = { key, expectedVersion }
  switch (verb) {
    case 'write':
      return { verb, id, text, metadata, ...at }
    case 'patch':
      return { verb, ...at, ...(share < 0.5 ? { text } : { metadata }) }
    case 'append':
      return { verb, id, key, text, maxBytes: 30, ...(share < 0.5 && at) }
    case 'edit':
      return { verb, key, old: text, new: metadata, maxBytes: 30, ...(share < 0.5 && at) }
    case 'delete':
      return { verb, ...at }
    case 'restore':
      return { verb, ...at, version: versionAt(home, key, share) }
    case 'rename':
      return { verb, from: key, to, expectedVersion }
    case 'read':
      return { verb, key }
  }
}

export const erasureOf = (home: PlainHome, { key, kind, shares }: Erasing): Erasure =>
  kind === 'some' ? shares.map((share) => versionAt(home, key, share)) : kind
