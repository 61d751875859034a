/** Where a fault of a body is, as a JSON pointer. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Problem } from '../../src/errors.ts'
import { beginCall } from '../../src/http/call.ts'
import { validateBody, validateQuery, withoutNulls } from '../../src/pipeline/validate.ts'
import { incomingOf } from '../harness.ts'

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

describe('what is missing', () => {
  test.each([
    ['is said to be', 'must be a string', {}, 'is missing: it must be a string'],
    [
      'is not its own other name',
      'must be a string',
      { a: undefined },
      'is missing: it must be a string',
    ],
    ['is said to be, whatever the rule says', 'is no string', {}, 'is missing'],
  ])('%s', (_, rule, value, message) => {
    const refuse = () => validateBody(z.strictObject({ a: z.string(rule) }), value)
    const errors = [{ pointer: '/a', message }]
    expect(refuse).toThrow(expect.objectContaining({ extras: { errors } }))
  })
})

describe('where there are many faults', () => {
  const manyKeys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]))

  const refusalOf = (value: unknown) => faultsOf(value) as Problem

  test('the first fifty are named, and how many there are', () => {
    const { extras } = refusalOf(manyKeys(12_000))
    expect(extras.errors).toHaveLength(50)
    expect(extras.errors?.[49]).toMatchObject({ pointer: '/k49' })
    expect(extras.detail).toMatch(/ There are 12000; the first 50 are named\.$/)
  })

  test('of several kinds, all count', () => {
    const { extras } = refusalOf({ ...manyKeys(3), 'a/b': { '~': Array(60).fill('x') } })
    expect(extras.errors).toHaveLength(50)
    expect(extras.detail).toMatch(/ There are 63; the first 50 are named\.$/)
  })

  test('a long way to them is told once, and how many there are', () => {
    const under = z.record(z.string(), z.record(z.string(), z.int()))
    const way = 'k'.repeat(60_000)
    const value = { [way]: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, 'x'])) }
    const refuse = () => validateBody(under, value)
    expect(refuse).toThrow(/ There are 40; the first is named\.$/)
    try {
      refuse()
    } catch (refused) {
      const { errors } = (refused as Problem).extras
      expect(errors?.map(({ pointer }) => pointer)).toEqual([`/${way}/0`])
    }
  })

  test('no more than fifty are named, wherever they are', () => {
    const { extras } = refusalOf({ ...manyKeys(30), 'a/b': { ...manyKeys(30), '~': ['x'] } })
    expect(extras.errors).toHaveLength(50)
    expect(extras.detail).toMatch(/ There are 61; the first 50 are named\.$/)
  })

  test('fifty are all named, and nothing is said of more', () => {
    const { extras } = refusalOf(manyKeys(50))
    expect([extras.errors?.length, extras.detail]).toEqual([50, undefined])
  })

  test('of a query it is the same', () => {
    const search = Array.from({ length: 200 }, (_, n) => `k${n}=1`).join('&')
    const call = beginCall('r1', incomingOf('GET', `/?${search}`, {}), {})
    expect(() => validateQuery(schema, call)).toThrow(/There are 200; the first 50 are named\.$/)
  })
})

test.each([
  [
    { a: null, b: [null], c: 0 },
    { b: [null], c: 0 },
  ],
  [[null], [null]],
  [null, null],
  ['text', 'text'],
])('of %j without members that are null there is %j', (value, left) => {
  expect(withoutNulls(value)).toEqual(left)
})
