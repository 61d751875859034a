import fc from 'fast-check'
import { expect, test } from 'vitest'
import { iso } from '../src/time.ts'
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
