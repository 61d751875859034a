/** The format of the chain: what is hashed, against an implementation of its own. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  aroundId,
  beginningOf,
  canonicalEvent,
  commitTo,
  contentOf,
  hashAfter,
} from '../../src/store/chain.ts'
import { EVENT_TYPES, type HomeEvent } from '../../src/store/port/events.ts'
import { anyCharacter } from '../any-character.ts'
import { beginning, canonical, commitment, nextHash, shown } from './chained.ts'

const name = fc.string({ unit: anyCharacter })
const named = fc.record({ id: fc.uuid(), name })
const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const events: fc.Arbitrary<HomeEvent> = fc.record({
  id: fc.integer({ min: 1 }),
  type: fc.constantFrom(...EVENT_TYPES),
  key: perhaps(fc.stringMatching(/^[a-zA-Z0-9_.-]{1,100}$/)),
  from: perhaps(fc.stringMatching(/^[a-zA-Z0-9_.-]{1,100}$/)),
  version: perhaps(fc.integer({ min: 1 })),
  namedKey: perhaps(named),
  rollback: perhaps(fc.record({ to: fc.nat(), parts: fc.nat() })),
  content: perhaps(fc.stringMatching(/^[0-9a-f]{64}$/)),
  by: perhaps(
    fc.record(
      {
        as: fc.constantFrom('agent' as const, 'operator' as const),
        via: fc.constantFrom('api' as const, 'mcp' as const, 'console' as const),
        account: name,
        key: named,
      },
      { requiredKeys: ['as', 'via'] },
    ),
  ),
  createdAt: fc.integer({ min: 0, max: 4e12 }),
})

test('an event is hashed as RFC 8785 writes what the API shows', () => {
  fc.assert(
    fc.property(events, (event) => {
      expect(canonicalEvent(event)).toBe(canonical(shown(event)))
      const [before, behind] = aroundId(event)
      expect(before + event.id + behind).toBe(canonicalEvent(event))
    }),
  )
})

test('each hash follows on the one before', () => {
  const agentId = '0192b6f4-0000-7000-8000-000000000000'
  expect(beginningOf(agentId).toString('hex')).toBe(beginning(agentId))
  fc.assert(
    fc.property(fc.array(events, { maxLength: 5 }), (all) => {
      let [ours, theirs] = [beginningOf(agentId), beginning(agentId)]
      for (const event of all) {
        ours = hashAfter(ours, canonicalEvent(event))
        theirs = nextHash(theirs, shown(event))
      }
      expect(ours.toString('hex')).toBe(theirs)
    }),
  )
})

test('a chain that others computed', () => {
  const event = { id: 1, type: 'write', key: 'plan', version: 1, content: 'ab'.repeat(32) } as const
  const by = { as: 'agent', via: 'api', key: { id: 'i', name: '€' } } as const
  expect(canonicalEvent({ ...event, by, createdAt: 0 })).toBe(
    `{"by":{"as":"agent","key":{"id":"i","name":"€"},"via":"api"},"content":"${'ab'.repeat(32)}","createdAt":"1970-01-01T00:00:00.000Z","id":1,"key":"plan","type":"write","version":1}`,
  )
})

test('a version commits to its text, where it ends, and its metadata as kept', () => {
  const long = fc.integer({ min: 32_600, max: 40_000 }).map((bytes) => 'x'.repeat(bytes))
  const texts = fc.record({ text: fc.oneof(name, long), metadata: name })
  fc.assert(
    fc.property(texts, (content) => {
      const { salt, content: committed } = commitTo(content)
      expect(committed.toString('hex')).toBe(commitment(salt.toString('hex'), content))
    }),
  )
  const salt = Buffer.alloc(32, 7)
  const moved = contentOf(salt, { text: 'ab', metadata: 'c' })
  expect(contentOf(salt, { text: 'a', metadata: 'bc' })).not.toEqual(moved)
})

test('no two salts are the same, and none is empty', () => {
  const salts = Array.from({ length: 1_000 }, () =>
    commitTo({ text: 'x', metadata: '{}' }).salt.toString('hex'),
  )
  expect(new Set(salts).size).toBe(salts.length)
  expect(salts.filter((salt) => salt.length !== 64 || /^0+$/.test(salt))).toEqual([])
})
