/** Every fault that strict JSON refuses is pointed at. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { decodeJson, parseStrictJson } from '../../src/http/json.ts'

function refusalOf(sent: string | Uint8Array): Problem {
  try {
    parseStrictJson(decodeJson(Buffer.from(sent as string)))
  } catch (refused) {
    if (refused instanceof Problem) return refused
  }
  throw new Error('it is not refused')
}

const pointersOf = (sent: string): string[] =>
  (refusalOf(sent).extras.errors ?? []).map(({ pointer }) => pointer)

test.each([
  ['{"a":1,"a":2}', ['/a']],
  ['{"a":{"b":1,"c/d":[{"~":1,"\\u007e":2}]}}', ['/a/c~1d/0/~0']],
  ['{"":1,"":2}', ['/']],
  ['[1,{"__proto__":1}]', ['/1/__proto__']],
  ['{"a":[0,"x",{"b":"\\u0000"}]}', ['/a/2/b']],
  ['{"b\\u0000":1}', ['']],
  ['{"a":{"b\\u0000":1}}', ['/a']],
  ['{"a":{"b":[{"c\\u0000":1}]}}', ['/a/b/0']],
  ['{"a":"\\ud800","b":["\\udc00"]}', ['/a', '/b/0']],
  ['"\\ud800"', ['']],
  [`{"a":${'['.repeat(32)}${']'.repeat(32)}}`, [`/a${'/0'.repeat(31)}`]],
  ['{"x":"a,b:{[","y":["]}",{"k":1,"k":2}]}', ['/y/1/k']],
  ['{"a":1,"a":2,"b":"\\u0000","__proto__":1}', ['/a', '/b', '/__proto__']],
  ['{"a":1', ['']],
  ['nope', ['']],
])('the faults of %s are at %j', (sent, pointers) => {
  expect(pointersOf(sent)).toEqual(pointers)
})

test('a body of nothing but faults is told the first of them', () => {
  expect(pointersOf(`{${'"a":1,'.repeat(1_000)}"b":1}`)).toHaveLength(20)
})

test('pointers are told as long as they are 4,096 characters together', () => {
  const twice = (length: number) => {
    const key = JSON.stringify('k'.repeat(length - 1))
    return pointersOf(`{"a":1,"a":2,${key}:1,${key}:2}`).map((pointer) => pointer.length)
  }
  expect([twice(4_094), twice(4_095)]).toEqual([[2, 4_094], [2]])
})

test('bytes that no text has are told from a body that was cut short', () => {
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0xed, 0xa0, 0x80]]) {
    expect(refusalOf(Uint8Array.from(bytes)).message).toBe(
      'The body is not valid UTF-8. Encode it as UTF-8 and send it again.',
    )
  }
})

test('the sentence says where the first of them is, as long as that is short', () => {
  expect(refusalOf('{"a":1,"a":2}').message).toBe(
    'What is at "/a" is the same key twice: send each key once.',
  )
  const at = (length: number) => {
    const key = JSON.stringify('k'.repeat(length - 1))
    return refusalOf(`{${key}:1,${key}:2}`).message.slice(0, 12)
  }
  expect([at(200), at(201)]).toEqual(['What is at "', 'What is in e'])
})

test('what is too deep is told so, also beside a number that is kept in writing', () => {
  const lists = `[1e400,${'['.repeat(16_000)}${']'.repeat(16_000)}]`
  const objects = `${'{"a":'.repeat(4_096)}1e400${'}'.repeat(4_096)}`
  for (const deep of [lists, objects]) {
    expect(refusalOf(deep).message).toContain('is deeper than 32 levels')
  }
})

test('a fault at the end of a long way is told once, and not in the sentence', () => {
  const [open, close] = [`{"${'k'.repeat(4_000)}":`.repeat(30), '}'.repeat(30)]
  const { message, extras } = refusalOf(`${open}{"a":1,"a":2,"b":1,"b":2}${close}`)
  expect(extras.errors?.map(({ pointer }) => pointer.slice(-4))).toEqual(['kk/a'])
  expect(message).toBe('What is in errors is the same key twice: send each key once.')
})

describe('a body that was cut short', () => {
  const whole =
    '{"key":"plan","text":"Крок 🌱\\n\\u0041","metadata":{"a":[1.5e3,true,null]},"v":12}'

  test('says so, wherever it was cut', () => {
    const bytes = Buffer.from(whole)
    for (let length = 0; length < bytes.length; length++) {
      const { message } = refusalOf(bytes.subarray(0, length))
      expect(`${length} ${message}`).toBe(
        `${length} The body ends before its JSON does. Send the whole JSON value.`,
      )
    }
  })

  test('says so, whatever it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, at) => {
        const source = JSON.stringify(value)
        const { message } = refusalOf(source.slice(0, at % source.length))
        expect(message).toContain('ends before')
      }),
      { numRuns: 300 },
    )
  })
})
