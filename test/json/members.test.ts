import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  compact,
  elementsOf,
  membersOf,
  onlyMemberOf,
  placesOf,
  withoutEscapes,
} from '../../src/json/members.ts'
import { Tokens } from '../../src/json/tokens.ts'

const value = fc.jsonValue({ maxDepth: 3 })
const key = fc.string({ unit: fc.constantFrom('a', '"', '\\', ':', ',', '{', '}', '[', ' ', 'ї') })
const object = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true })
const space = fc.constantFrom(undefined, 1, '\t')

test('each member is cut out as it is written, and nothing of it is lost', () => {
  fc.assert(
    fc.property(object, space, (sent, spaced) => {
      const members = membersOf(JSON.stringify(sent, null, spaced))
      const written = Object.entries(sent).map(([name, own]) => [name, JSON.stringify(own)])
      expect([...members].map(([name, text]) => [name, compact(text)]).toSorted()).toEqual(
        written.toSorted(),
      )
    }),
    { numRuns: 500 },
  )
})

test('each element is cut out as it is written, and nothing of it is lost', () => {
  const string = fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', '[', ']', 'ї') })
  const list = fc.array(fc.oneof(value, string, fc.array(string), fc.dictionary(string, string)))
  fc.assert(
    fc.property(list, space, (sent, spaced) => {
      const elements = elementsOf(JSON.stringify(sent, null, spaced))
      expect(elements.map(compact)).toEqual(sent.map((each) => JSON.stringify(each)))
    }),
    { numRuns: 500 },
  )
  expect(elementsOf('[1.0, {"a":1e400} ,"],"]')).toEqual(['1.0', ' {"a":1e400} ', '"],"'])
  expect([elementsOf('[]'), elementsOf('[ \n ]')]).toEqual([[], []])
})

test('an only member is cut out as it is written', () => {
  const name = key.filter((each) => !each.includes(':'))
  fc.assert(
    fc.property(name, value, space, (only, own, spaced) => {
      const source = JSON.stringify({ [only]: own }, null, spaced)
      expect(compact(onlyMemberOf(source))).toBe(JSON.stringify(own))
    }),
    { numRuns: 500 },
  )
})

function tokensOf(source: string): string[] {
  const tokens = new Tokens(source)
  const texts: string[] = []
  while (tokens.next()) texts.push(tokens.text)
  return texts
}

test('tokens are strings, numbers, and other characters by themselves', () => {
  expect(tokensOf(' {"a": [-1.5e+3,12], "b":\n{} , "c":true}')).toEqual(
    ['{', '"a"', ':', '[', '-1.5e+3', ',', '12', ']', ',', '"b"', ':', '{', '}', ','].concat([
      '"c"',
      ':',
      't',
      'r',
      'u',
      'e',
      '}',
    ]),
  )
})

test('a string ends at the first quote that is not escaped, and what never ends with the source', () => {
  const text = fc.string({
    unit: fc.constantFrom('"', '"', '"', '\\', 'a', '\n', 'ї'),
    maxLength: 200,
    size: 'max',
  })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const quoted = JSON.stringify(before)
      const next = JSON.stringify(after)
      expect(tokensOf(quoted + next)).toEqual([quoted, next])
      const open = quoted.slice(0, -1)
      expect(tokensOf(open)).toEqual([open])
    }),
    { numRuns: 500 },
  )
})

test('only the space around tokens goes', () => {
  fc.assert(
    fc.property(value, space, (sent, spaced) => {
      expect(compact(JSON.stringify(sent, null, spaced))).toBe(JSON.stringify(sent))
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['{"a":-0 , "2" : 1e-400,"1":[ 1.0 ,"\\u0041 b"]}', 'a', '-0'],
  ['{"a":-0 , "2" : 1e-400,"1":[ 1.0 ,"\\u0041 b"]}', '2', '1e-400'],
  ['{"a":-0 , "2" : 1e-400,"1":[ 1.0 ,"\\u0041 b"]}', '1', '[1.0,"\\u0041 b"]'],
  [' { "\\u0061" : {"a":{"a":2}} } ', 'a', '{"a":{"a":2}}'],
  ['{}', 'a', undefined],
])('of %s the member %s is %s', (source, name, text) => {
  const found = membersOf(source).get(name)
  expect(found && compact(found)).toBe(text)
})

test('members are those of the object that is asked for, and not of what stands around it', () => {
  const source = '{"a":{"b":{"c":1},"d":[{"e":2}]},"f":{},"g":3}'
  const found = (at: string) => [...placesOf(source, source.indexOf(at) + at.length).keys()]
  expect([found(''), found('"a":'), found('"b":'), found('"f":')]).toEqual([
    ...[['a', 'f', 'g'], ['b', 'd'], ['c'], []],
  ])
})

test('a string loses the escapes that UTF-8 can do without, and no more', () => {
  expect(withoutEscapes('"\\u0061"')).toBe('"a"')
  expect(withoutEscapes('{"\\u0061\\n":["\\u00e9\\"",1.0]}')).toBe('{"a\\n":["é\\"",1.0]}')
})
