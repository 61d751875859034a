import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseStrictJson } from '../../src/http/json.ts'
import { WrittenNumber } from '../../src/json/decimals.ts'

const parse = (source: string): unknown => parseStrictJson(source)

/** Strings in which a scanner for quotes and colons could lose its way. */
const tricky = fc
  .array(fc.constantFrom('"', '\\', ':', '{', '}', ',', 'u', '\\u0041', '\n', '🌱', 'a', ''))
  .map((parts) => parts.join(''))

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, 5e-324, 2 ** 53 - 1),
    tricky,
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(
      tricky.filter((key) => key !== '__proto__'),
      tie('any'),
      { maxKeys: 4 },
    ),
  ),
})).any

const escaped = (text: string): string =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** JSON with each key that is chosen spelt in escapes. */
function spell(sent: unknown, chosen: (key: string) => boolean): string {
  if (typeof sent !== 'object' || sent === null) return JSON.stringify(sent)
  if (Array.isArray(sent)) return `[${sent.map((item) => spell(item, chosen)).join(' , ')}]`
  const members = Object.entries(sent).map(
    ([key, member]) =>
      `${chosen(key) ? `"${escaped(key)}"` : JSON.stringify(key)} : ${spell(member, chosen)}`,
  )
  return `{${members.join(' , ')}}`
}

const keysOf = (count: number): string =>
  `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`

test('as many keys as a body may have are read', () => {
  expect(parse(`[${keysOf(4_000)},${keysOf(96)}]`)).toHaveLength(2)
})

describe('strict JSON', () => {
  // V8's own parser is no measure: it mixes up keys that have escapes, see below.
  test('reads what was written, however it is spaced', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (sent, space) => {
        expect(parse(JSON.stringify(sent, null, space))).toEqual(sent)
      }),
      { numRuns: 500 },
    )
  })

  test('reads the same, in the same order, whichever keys are spelt in escapes', () => {
    fc.assert(
      fc.property(value, fc.func(fc.boolean()), (sent, chosen) => {
        expect(JSON.stringify(parse(spell(sent, chosen)))).toBe(JSON.stringify(sent))
      }),
      { numRuns: 500 },
    )
  })

  test('finds any key that is written twice, however it is spelt', () => {
    const key = fc.stringMatching(/^[a-z"\\:]{1,6}$/)
    fc.assert(
      fc.property(key, value, fc.boolean(), (name, other, spelt) => {
        const again = spelt ? `"${escaped(name)}"` : JSON.stringify(name)
        const source = `[{${JSON.stringify(name)}:${JSON.stringify(other)},${again}:1}]`
        expect(() => parse(source)).toThrow('same key twice')
      }),
      { numRuns: 500 },
    )
  })

  test('reads a key as it is spelt, whatever keys were read before', () => {
    // After this, V8's own parser reads the keys below as a backslash.
    JSON.parse('{"h":[],"\\\\":0}')
    const keys = (source: string) => Object.keys(parse(source) as object)
    expect(keys('{"h":[],"\\\\":0}')).toEqual(['h', '\\'])
    expect(keys('{"h":1,"\\u043a":2}')).toEqual(['h', 'к'])
    expect(keys('{"h":1,"\\"":2}')).toEqual(['h', '"'])
    expect(keys('{"h":1,"\\n":{"h":1,"\\u0031":2}}')).toEqual(['h', '\n'])
    expect(keys('{"k0":2,"\\u006b":3,"kk\\u0030":4}')).toEqual(['k0', 'k', 'kk0'])
    expect(parse('[{"\\u0061":[{"\\u0062":"\\u0063"}]}]')).toEqual([{ a: [{ b: 'c' }] }])
  })

  test('reads keys that are spelt in escapes down to the last level', () => {
    const deep = `${'['.repeat(31)}{"\\u0061":{}}${']'.repeat(31)}`
    expect(() => parse(deep)).toThrow('32 levels')
    const deepest = deep.replace('{}', '[1]').replace('[[', '[').replace(']]', ']')
    expect(JSON.stringify(parse(deepest))).toBe(deepest.replace('\\u0061', 'a'))
  })

  test.each([
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['1.0', 1],
    ['1e2', 100],
    ['0.1', 0.1],
    ['-0.0', -0],
  ])('keeps the number %s', (source, kept) => {
    expect(parse(`[${source}]`)).toEqual([kept])
  })

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '0.1234567890123456789',
    '1.0000000000000001',
    '1e309',
    '-1e309',
    '1e-400',
    '1234567890123456789',
  ])('hands on the number %s, which JavaScript would change, as it is written', (source) => {
    const written = new WrittenNumber(source)
    expect(parse(`{"a":[${source}]}`)).toEqual({ a: [written] })
    expect(parse(`{"\\u0061":[ ${source} ]}`)).toEqual({ a: [written] })
  })

  test('hands on such a number on the last level too', () => {
    const deepest = `${'['.repeat(32)}1e400${']'.repeat(32)}`
    expect(JSON.stringify(parse(deepest))).toContain('{"literal":"1e400"}')
    expect(() => parse(`[${deepest}]`)).toThrow('32 levels')
  })

  test('takes an integer in a string or a key for text', () => {
    const source = '{"9007199254740993":["\\"9007199254740993",9007199254740992,1.5e300]}'
    expect(parse(source)).toEqual(JSON.parse(source))
  })

  test.each([
    ['', 'ends before'],
    ['{"a"', 'ends before'],
    ['{"a":"b', 'ends before'],
    ['{"a":1,', 'ends before'],
    ['[1,]', 'not JSON'],
    ['nope', 'not JSON'],
    [`["${'a'.repeat(60)}",]`, 'not JSON'],
    ['{"a":1} x', 'character 8'],
    ["{'a':1}", 'character 1'],
    ['{"abcdefgh":1} x', 'character 15'],
    ['{"\\ud800":1}', 'surrogate'],
    ['{"\\u0000":1}', 'NUL'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['"\\ud800"', 'surrogate'],
    ['"\\u0000"', 'NUL'],
    ['{"__proto__":1}', '__proto__'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, '32 levels'],
    [`${'['.repeat(32)}{"\\u0061":1}${']'.repeat(32)}`, '32 levels'],
    [`${'{"\\u0061":'.repeat(33)}1${'}'.repeat(33)}`, '32 levels'],
    [`[${keysOf(4_000)},${keysOf(97)}]`, '4096 keys'],
    [`[${keysOf(4_000)},${keysOf(95)},{"\\u0061":{"b":1}}]`, '4096 keys'],
    [`[${'0,'.repeat(32_767)}0]`, '32768 values'],
    ['['.repeat(32_768), '32768 values'],
  ])('says what is wrong with %j', (source, sentence) => {
    expect(() => parse(source)).toThrow(sentence)
  })
})
