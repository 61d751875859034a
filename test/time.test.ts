import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantOf, iso } from '../src/time.ts'
import { times } from './effort.ts'

test('a moment is written as Date writes it, whichever came before', () => {
  const moment = fc.date({ noInvalidDate: true }).map(Number)
  fc.assert(
    fc.property(fc.array(moment, { minLength: 1, maxLength: 5 }), (moments) => {
      expect(moments.map(iso)).toEqual(moments.map((time) => new Date(time).toISOString()))
    }),
    { numRuns: times(500) },
  )
})

test.each([0, 1, 999, 1_000, 59_999, 86_399_999, 86_400_000, Date.UTC(2026, 10, 22, 23, 59, 59)])(
  'the edges of a second, a minute and a day: %i',
  (time) => expect(iso(time)).toBe(new Date(time).toISOString()),
)

const AT = Date.UTC(2026, 10, 21, 10)

test.each([
  ['2026-11-21T10:00:00Z', AT],
  ['2026-11-21t10:00:00z', AT],
  ['2026-11-21 10:00:00Z', AT],
  ['2026-11-21T12:00:00+02:00', AT],
  ['2026-11-21T04:30:00-05:30', AT],
  ['2026-11-22T09:59:00+23:59', AT],
  ['2026-11-21T10:00:00-00:00', AT],
  ['2026-11-21T10:00:00.1Z', AT + 100],
  ['2026-11-21T10:00:00.123456789012345678901234567890Z', AT + 123],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1) - 1],
  ['2016-12-31T15:59:60.5-08:00', Date.UTC(2017, 0, 1) - 1],
  ['1969-12-31T23:59:59.999Z', -1],
])('RFC 3339 is read: %s', (text, time) => expect(instantOf(text)).toBe(time))

test.each([
  ...['2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-21T24:00:00Z', '2026-11-21'],
  ...[
    '2026-11-21T10:00:00',
    '2026-11-21T10:00:00.Z',
    '2026-11-21T10:00Z',
    '+02026-11-21T10:00:00Z',
  ],
  ...['2026-11-21T10:00:60Z', '2026-11-21T10:00:00+24:00', '2026-11-21T10:00:00+0200', '', 'now'],
])('what is no time of it is not: %s', (text) => expect(instantOf(text)).toBeUndefined())
