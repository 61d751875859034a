import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idAfter, NIL_ID, successor } from '../src/uuid.ts'

const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Not every random id ends in a carry. */
const uuid = fc
  .tuple(fc.uuid({ version: [1, 4, 7] }), fc.integer({ min: 0, max: 36 }))
  .map(([id, carried]) => id.slice(0, 36 - carried) + LAST.slice(36 - carried))
  .filter((id) => id !== LAST)

const withoutHyphens = (id: string): string => id.replaceAll('-', '')

test('the successor of an id is the least that is greater', () => {
  fc.assert(
    fc.property(uuid, (id) => {
      const next = successor(id)
      expect(next > id).toBe(true)
      // Only the last digit that can rise has risen, by one; behind it all begins anew.
      const [, head = '', digit = '', tail = ''] =
        /^(.*)([0-9a-e])(f*)$/.exec(withoutHyphens(id)) ?? []
      const risen = '123456789abcdef'['0123456789abcde'.indexOf(digit)]
      expect(withoutHyphens(next)).toBe(head + risen + '0'.repeat(tail.length))
      expect(next.replace(/[^-]/g, 'x')).toBe(id.replace(/[^-]/g, 'x'))
    }),
  )
})

test('after the last comes the first, and the first is before every other', () => {
  expect(successor(LAST)).toBe(NIL_ID)
  fc.assert(fc.property(uuid, (id) => id >= NIL_ID))
})

test('ids that are given grow, whatever is wished for', () => {
  fc.assert(
    fc.property(fc.array(uuid, { maxLength: 20 }), (wishes) => {
      let last = ''
      for (const wished of wishes.flatMap((id) => [id, id])) {
        const given = idAfter(last, wished)
        expect(given).toBe(wished > last ? wished : successor(last))
        expect(given > last).toBe(true)
        last = given
      }
    }),
  )
})
