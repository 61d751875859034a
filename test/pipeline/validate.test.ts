/** Where a fault of a body is, as a JSON pointer. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { validateBody } from '../../src/pipeline/validate.ts'

const schema = z.strictObject({
  'a/b': z.strictObject({ '~': z.array(z.int('must be an integer')).optional() }).optional(),
})

const faultsOf = (value: unknown): unknown => {
  try {
    return validateBody(schema, value)
  } catch (refused) {
    return refused
  }
}

test.each([
  ['a property at the top', { c: 1 }, '/c'],
  ['a property further in', { 'a/b': { c: 1 } }, '/a~1b/c'],
  ['an item of a list', { 'a/b': { '~': [0, 'x'] } }, '/a~1b/~0/1'],
  ['a name of slashes and tildes', { '//~~1': 1 }, '/~1~1~0~01'],
  ['the whole body', [], ''],
])('the pointer of %s is that of RFC 6901', (_, value, pointer) => {
  expect(faultsOf(value)).toMatchObject({ code: 'invalid_body', extras: { errors: [{ pointer }] } })
})
