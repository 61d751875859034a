import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalOf, isKept } from '../../src/json/decimals.ts'
import { sameValue } from '../../src/json/same-value.ts'

test.each([
  ['0', '-0', '0.000', '0e9', '-0.0e-5'],
  ['1', '1.0', '10e-1', '0.1E+1', '1e0'],
  ['-120', '-1.2e2', '-12e1', '-120.00'],
  ['9007199254740993', '9007199254740993.0', '9007199254740.993e3'],
  ['1e-400', '10e-401', '0.1e-399'],
])('%s has one value, however it is spelt', (literal, ...others) => {
  for (const other of others) {
    expect(decimalOf(other)).toBe(decimalOf(literal))
    expect(sameValue(`{"a":[${literal}]}`, `{"a":[ ${other} ]}`)).toBe(true)
  }
})

test('every number of JavaScript is kept as it writes it', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(isKept(String(number))).toBe(true)
    }),
  )
})

test.each([
  ['9007199254740992', true],
  ['-9007199254740993', false],
  ['123456789012345680000', true],
  ['1000000000000000000000', true],
  ['1000000000000000000001', false],
  ['-0', true],
])('whether %s is kept: %s', (literal, kept) => {
  expect(isKept(literal)).toBe(kept)
})

test('an integer is kept where it is the same number of JavaScript', () => {
  const near = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })
  const exact = fc.maxSafeInteger().map(BigInt)
  const doubled = fc
    .tuple(fc.maxSafeInteger(), fc.nat(20))
    .map(([n, by]) => BigInt(n) << BigInt(by))
  fc.assert(
    fc.property(fc.oneof(near, exact, doubled), (integer) => {
      const literal = String(integer)
      const kept = decimalOf(literal) === decimalOf(String(Number(literal)))
      expect(isKept(literal)).toBe(kept)
    }),
  )
})

/** The value as a fraction, by arithmetic that rounds nothing. */
function exactly(literal: string): readonly [bigint, bigint] {
  const [coefficient = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = coefficient.split('.')
  const power = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return power < 0 ? [digits, 10n ** BigInt(-power)] : [digits * 10n ** BigInt(power), 1n]
}

function isSame(a: string, b: string): boolean {
  const [[a1, a2], [b1, b2]] = [exactly(a), exactly(b)]
  return a1 * b2 === b1 * a2
}

test('a number is kept where JavaScript writes the same number again, whatever its size', () => {
  const digits = fc.stringMatching(/^-?[1-9]\d{0,19}$/)
  const literal = fc.oneof(
    fc.tuple(digits, fc.integer({ min: -345, max: 330 })).map(([n, e]) => `${n}e${e}`),
    fc.tuple(digits, fc.stringMatching(/^\d{1,19}$/)).map(([n, f]) => `${n}.${f}`),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n.toExponential()),
  )
  fc.assert(
    fc.property(literal, (sent) => {
      const value = Number(sent)
      const kept = Number.isFinite(value) && isSame(sent, String(value))
      expect(isKept(sent)).toBe(kept)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['{"a":1e99999999999999999999}', '{"a":1e99999999999999999999}', true],
  ['{"a":1e99999999999999999999}', '{"a":10e99999999999999999998}', false],
  ['{"a":1e9007199254740993}', '{"a":1e9007199254740992}', false],
  ['{"a":1e9007199254740992}', '{"a":1e9007199254740991}', false],
  ['{"a":1e100000000000000}', '{"a":10e99999999999999}', true],
])('%s, as an old home may hold it, and %s are the same: %s', (one, other, same) => {
  expect(sameValue(one, ` ${other}`)).toBe(same)
})

test.each([
  ['{"a":9007199254740993}', '{"a":9007199254740992}'],
  ['{"a":1e-400}', '{"a":0}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":1}', '{"a":-1}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":{}}', '{"a":[]}'],
  ['{"a":1}', '{"a":1,"b":null}'],
  ['{"a":12}', '{"a":120}'],
])('%s and %s say different things', (one, other) => {
  expect(sameValue(one, other)).toBe(false)
})

test.each([
  ['{"a":1,"b":{"2":1,"1":2}}', '{"b":{"1":2,"2":1},"a":1}'],
  ['{"a":"é\\/"}', '{"\\u0061":"\\u00e9/"}'],
])('%s and %s say the same', (one, other) => {
  expect(sameValue(one, other)).toBe(true)
})

test('keys are compared as they are spelt, whatever keys were read before', () => {
  // After this, V8's own parser reads the escaped key below as a backslash.
  JSON.parse('{"h":[],"\\\\":0}')
  expect(sameValue('{"h":1,"\\u043a":2}', '{"h":1,"к":2}')).toBe(true)
})
