/** What clients get of each tool, and the arguments that they send. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'
import { connect, eras } from './clients.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await openService(embedded)
  token = (await service.birth()).token
})
afterAll(() => service.close())

type Json = Readonly<Record<string, unknown>>

interface Given {
  readonly isError?: boolean
  readonly content: readonly [{ readonly text: string }]
}

async function call(name: string, args: unknown): Promise<Given> {
  const { body } = await post(service, { token, body: toolCall(name, args) })
  return (body as { result: Given }).result
}

const said = async (name: string, args: unknown): Promise<string> =>
  (await call(name, args)).content[0].text

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Each member of a schema, however deep, with the names on the way to it. */
function* membersOf(value: unknown, path = ''): Generator<readonly [string, string, unknown]> {
  if (!isObject(value)) return
  for (const [name, member] of Object.entries(value)) {
    yield [`${path}/${name}`, name, member]
    yield* membersOf(member, `${path}/${name}`)
  }
}

/** What some client refuses in a schema, or leaves out without a word. */
const REFUSED = [
  ...['additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', '$defs', 'const'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'patternProperties', 'propertyNames', '$schema'],
]

describe.each(eras)('a client of $version', ({ era }) => {
  test('gets schemas that every client takes', async () => {
    const { tools } = await (await connect(service, token, era)).listTools()
    for (const { name, inputSchema } of tools) {
      expect(inputSchema.type, name).toBe('object')
      for (const [path, member, value] of membersOf(inputSchema.properties)) {
        expect(REFUSED, `${name}${path}`).not.toContain(member)
        if (member === 'type') expect(typeof value, `${name}${path}`).toBe('string')
        if (member === 'pattern') expect(value, `${name}${path}`).not.toMatch(/\\[dwsDWS]|\(\?/)
      }
      for (const member of Object.keys(inputSchema)) {
        expect(['type', 'properties', 'required'], name).toContain(member)
      }
    }
  })

  test('gets all tools in 2,000 tokens', async () => {
    const listed = await (await connect(service, token, era)).listTools()
    // A token of such JSON is four characters or more.
    expect(JSON.stringify(listed).length).toBeLessThanOrEqual(8_000)
  })
})

describe('numbers, booleans and objects that come as strings', () => {
  test('are taken for what they are', async () => {
    const metadata = '{ "pinned": true, "big": 9007199254740993 }'
    const args = { key: 'strings', text: '5', metadata, expectedVersion: '0' }
    expect(await said('write_memory', args)).toBe('strings is saved as version 1.')
    expect(await said('read_memory', { key: 'strings', version: '1' })).toMatch(
      /^strings, version 1, \S+, metadata \{"pinned":true,"big":9007199254740993\}\n\n5$/,
    )
    expect(await said('list_memories', { deleted: 'true' })).toContain('No deleted memory')
    expect(await said('list_memories', { deleted: 'false', limit: ' 1 ' })).toContain('strings')
  })

  test.each([
    [{ expectedVersion: 'one' }, '/expectedVersion: must be an integer'],
    [{ expectedVersion: '' }, '/expectedVersion: must be an integer'],
    [{ expectedVersion: '1.5' }, '/expectedVersion: must be an integer'],
    [{ expectedVersion: '0x1' }, '/expectedVersion: must be an integer'],
    [{ expectedVersion: '[1]' }, '/expectedVersion: must be an integer'],
    [{ expectedVersion: '9007199254740993' }, '/expectedVersion: is too large'],
    [{ expectedVersion: `1${'0'.repeat(300)}` }, '/expectedVersion: '],
    [{ expectedVersion: '-1' }, '/expectedVersion: must be at least 0'],
    [{ metadata: '[]' }, '/metadata: must be an object'],
    [{ metadata: '{"a":1,"a":2}' }, '/metadata: must be an object'],
    [{ metadata: '{"__proto__":{"a":1}}' }, '/metadata: must be an object'],
    [{ metadata: `${'['.repeat(40)}${']'.repeat(40)}` }, '/metadata: must be an object'],
    [{ metadata: `{"a":${'['.repeat(40)}${']'.repeat(40)}}` }, '/metadata: must be an object'],
    [{ text: 5 }, '/text: must be a string'],
    [{ constructor: '5' }, '/constructor: is not a known property'],
  ])('are refused where they are none: %j', async (sent, sentence) => {
    const args = { key: 'k', text: 'x', metadata: {}, expectedVersion: 0, ...sent }
    const { isError, content } = await call('write_memory', args)
    expect(isError).toBe(true)
    expect(content[0].text).toContain(sentence)
    expect(content[0].text).toMatch(
      /\nwrite_memory takes key, text, metadata \(optional\), exp\w+\.$/,
    )
    expect(({} as Json).a).toBeUndefined()
  })

  test('count towards the limits of what is sent', async () => {
    const many = (n: number) => JSON.stringify(Object.fromEntries(new Array(n).fill(1).entries()))
    const args = { key: 'many', text: 'x', expectedVersion: 0, metadata: many(5_000) }
    expect((await call('write_memory', args)).isError).toBe(true)
    const large = JSON.stringify({ note: 'x'.repeat(4_096) })
    expect(await said('write_memory', { ...args, metadata: large })).toMatch(
      /^metadata_too_large: /,
    )
  })
})

test.each([
  ['rename_memory', { from: {}, to: [] }, ['/from', '/to']],
  ['recent_changes', { since: 5, prefix: 5, key: 5 }, ['/since', '/prefix', '/key']],
  [
    'list_memories',
    { after: 5, order: 5, deleted: 5, limit: {} },
    ['/after', '/order', '/deleted', '/limit'],
  ],
  ['search_memories', { q: 5, after: 5 }, ['/q', '/after']],
])('%s names each argument of another type: %j', async (tool, args, places) => {
  const text = await said(tool, args)
  for (const place of places) expect(text).toMatch(new RegExp(`\\n${place}: must be `))
  expect(text).not.toContain('Invalid input')
})

test('what is null is left out, and with it no argument is kept', async () => {
  const args = { prefix: null, order: null, after: null, limit: null, deleted: null, other: null }
  expect((await call('list_memories', args)).isError).toBeUndefined()
  await said('write_memory', { key: 'kept', text: 'a', metadata: '{"n":1}', expectedVersion: '0' })
  await said('write_memory', { key: 'kept', text: 'b', metadata: null, expectedVersion: '1' })
  expect(await said('read_memory', { key: 'kept', version: null })).toMatch(/\{"n":1\}\n\nb$/)
})
