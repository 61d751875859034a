import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryOf } from '../../src/http/target.ts'

const name = fc.stringMatching(/^[a-z%+= ]{0,4}$/)
const value = fc.constantFrom('', 'a', 'a.b', 'a=b', 'a+b', '%20', '%D0%BF', '%', '🌱')

/** What stands in the place of bytes that are no UTF-8, which are refused. */
const NO_TEXT = encodeURIComponent('\ufffd')

/** Parameters of different names, as a client may write them. */
const search = fc
  .array(fc.tuple(name, value), { maxLength: 3 })
  .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'))
  .filter((written) => {
    const pairs = new URLSearchParams(written)
    const names = [...pairs.keys()]
    return new Set(names).size === names.length && !String(pairs).includes(NO_TEXT)
  })

test('a query is read as the URL standard reads it', () => {
  fc.assert(
    fc.property(search, (written) => {
      expect(queryOf(written)).toEqual(Object.fromEntries(new URLSearchParams(written)))
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['', {}],
  ['a', { a: '' }],
  ['a=b', { a: 'b' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=%20', { a: ' ' }],
  ['a+b=c+d', { 'a b': 'c d' }],
  ['=a', { '': 'a' }],
  ['a=1&b=2', { a: '1', b: '2' }],
  ['__proto__=a', Object.fromEntries([['__proto__', 'a']])],
])('"%s" is read as %j', (written, query) => {
  expect(queryOf(written)).toEqual(query)
})

test.each(['\0', 'a=\0', '\ud800', 'a=\udc00b', '%00=a'])(
  '%j is no text, and is refused',
  (written) => {
    expect(() => queryOf(written)).toThrow(expect.objectContaining({ code: 'invalid_query' }))
  },
)

test.each(['a=1&a=1', 'a=1&%61=2', 'a&a', 'toString=1&toString=2'])(
  '"%s" says something twice, and is refused',
  (written) => {
    expect(() => queryOf(written)).toThrow(expect.objectContaining({ code: 'invalid_query' }))
  },
)
