/** Bodies that no JSON endpoint accepts, whatever its schema. */
import type { Row } from './scene.ts'

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

const texts: Readonly<Record<string, string | Buffer>> = {
  'an empty body': '',
  'white space': ' \n ',
  'a truncated object': '{"key": "plan"',
  'text after the object': '{} {}',
  'no JSON': '{key: 1}',
  'a byte order mark': '\uFEFF{}',
  'bytes that are not UTF-8': Buffer.from('7b22ff223a317d', 'hex'),
  'a duplicate key': '{"key": "a", "key": "b"}',
  'a duplicate key, escaped': String.raw`{"key": "a", "\u006bey": "b"}`,
  'a duplicate key below': '{"metadata": {"a": 1, "a": 2}}',
  'a __proto__ key': '{"metadata": {"__proto__": {}}}',
  'a __proto__ key, escaped': String.raw`{"metadata": {"\u005f_proto__": {}}}`,
  '32 levels': `{"metadata": ${nested(31)}}`,
  '33 levels': `{"metadata": ${nested(32)}}`,
  'a NUL in a value': String.raw`{"text": "a\u0000b"}`,
  'a NUL in a key': String.raw`{"metadata": {"a\u0000": 1}}`,
  'half of a surrogate pair': String.raw`{"text": "\ud83d"}`,
  'half of a surrogate pair in a key': String.raw`{"metadata": {"\udf31": 1}}`,
  'a number past a double': '{"metadata": {"n": 1e400}}',
  'an integer past 2^53': '{"metadata": {"n": 9007199254740993}}',
  null: 'null',
  'a string': '"text"',
  'a number': '7',
  'an array': '[]',
}

const types: Readonly<Record<string, string>> = {
  'plain text': 'text/plain',
  'a form': 'application/x-www-form-urlencoded',
  'another charset': 'application/json; charset=latin1',
  'JSON of another kind': 'application/merge-patch+json',
  'an empty type': '',
}

export const badBodies = (line: string, bearer?: string): Row[] => {
  const as = bearer === undefined ? {} : { bearer }
  return [
    ...Object.entries(texts).map(([title, body]): Row => [title, line, { ...as, body }]),
    ...Object.entries(types).map(([title, type]): Row => {
      return [title, line, { ...as, body: '{}', headers: { 'Content-Type': type } }]
    }),
    ['a compressed body', line, { ...as, body: '{}', headers: { 'Content-Encoding': 'gzip' } }],
    ['no body at all', line, as],
  ]
}
