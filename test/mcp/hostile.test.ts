/** What strangers and badly written clients send, and who may not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Born, embedded, openService, type TestService, write } from '../harness.ts'
import { connect, STRUCTURED } from './clients.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
let born: Born
beforeAll(async () => {
  service = await openService(embedded, { ALLOWED_ORIGINS: 'https://app.example' })
})
afterAll(() => service.close())
beforeEach(async () => {
  born = await service.birth()
})

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const writing = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_memory","arguments":${args}}}`

describe('nothing is loaded or done for', () => {
  test.each([
    ['nobody', () => ({}), 401, 'credentials_missing'],
    ['a token that never was', () => ({ token: 'aha_x' }), 401, 'invalid_token'],
    [
      'a page of another site',
      () => ({ token: born.token, headers: { origin: 'https://evil.example' } }),
      403,
      'origin_denied',
    ],
  ])('%s', async (_, options, status, code) => {
    const answer = await post(service, { body: list, ...options() })
    expect([answer.status, answer.body.code]).toEqual([status, code])
  })

  test('a token that was replaced', async () => {
    const client = await connect(service, born.token, 'legacy')
    await service.call('POST', '/api/agents/me/keys', { token: born.operatorToken })
    await expect(client.callTool({ name: 'list_memories' })).rejects.toThrow('invalid_token')
  })

  test.each(['GET', 'DELETE', 'PUT'])('%s', async (method) => {
    const answer = await service.call(method, '/mcp', { token: born.token })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

test('a page of a listed origin may send what clients of MCP send', async () => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  const asked = await service.call('OPTIONS', '/mcp', { headers })
  expect(asked.headers.get('access-control-allow-origin')).toBe(headers.origin)
  const allowed = asked.headers.get('access-control-allow-headers')?.split(', ')
  const sent = ['Authorization', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name']
  expect(allowed).toEqual(expect.arrayContaining(sent))
})

describe('what is no message', () => {
  test.each([
    ['a list of messages', [list, list], 400, 'invalid_body'],
    ['another protocol', { hello: 'there' }, 400, 'invalid_body'],
    ['half a message', '{"jsonrpc":"2.0",', 400, 'malformed_json'],
    ['a key twice', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400, 'malformed_json'],
    [
      'a prototype',
      writing('{"key":"a","text":"x","expectedVersion":0,"__proto__":{"a":1}}'),
      400,
      'malformed_json',
    ],
    [
      'a prototype in metadata',
      writing('{"key":"a","text":"x","expectedVersion":0,"metadata":{"__proto__":{"a":1}}}'),
      400,
      'malformed_json',
    ],
    [
      'more than a body may be',
      writing(JSON.stringify('x'.repeat(131_072))),
      413,
      'body_too_large',
    ],
  ])('%s is refused', async (_, body, status, code) => {
    const answer = await post(service, { token: born.token, body })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'a tool called %s is none',
    async (name) => {
      const { body } = await post(service, { token: born.token, body: toolCall(name, {}) })
      expect(body).toMatchObject({ error: { code: -32_602 } })
    },
  )

  test('arguments that are no object are told to be none', async () => {
    for (const args of ['x', 7, [], null]) {
      const { status, text } = await post(service, {
        token: born.token,
        body: toolCall('list_memories', args),
      })
      expect(status === 200 || status === 400, text).toBe(true)
      expect(text).not.toContain('There are no memories')
    }
  })
})

test('names from prototypes are names like others', async () => {
  const { token } = born
  for (const key of ['constructor', 'toString']) {
    const args = { key, text: 'x', metadata: { constructor: 1 }, expectedVersion: 0 }
    const { text } = await post(service, { token, body: toolCall('write_memory', args) })
    expect(text).toContain(`${key} is saved as version 1`)
  }
})

test('metadata comes back digit for digit', async () => {
  const metadata = '{"big":9007199254740993,"far":1e400,"exact":0.1000000000000000055}'
  const { token } = born
  const body = writing(`{"key":"n","text":"x","expectedVersion":0,"metadata":${metadata}}`)
  await post(service, { token, body })
  const stored = await service.call('GET', '/api/agents/me/memory?key=n', { token })
  expect(stored.text).toContain(metadata)
  for (const tool of ['read_memory', 'list_memories', 'get_context', 'search_memories']) {
    const args = { read_memory: { key: 'n' }, search_memories: { q: 'x' } }[tool] ?? {}
    const options = { token, body: toolCall(tool, args), headers: STRUCTURED }
    const { text, body } = await post(service, options)
    const { content } = (body as { result: { content: { text: string }[] } }).result
    expect(content[0]?.text, tool).toContain(metadata)
    if (tool !== 'search_memories') expect(text, tool).toContain(`"metadata":${metadata}`)
  }
})

test('no answer grows past what a context can take', async () => {
  const { token } = born
  const metadata = { note: 'x'.repeat(4_000) }
  for (let n = 0; n < 60; n++) {
    const body = { key: `k${n}`, text: 'word '.repeat(3_276), metadata, expectedVersion: 0 }
    await service.call('POST', '/api/agents/me/memory', { token, body })
  }
  const most: Readonly<Record<string, [object, number]>> = {
    get_context: [{ about: 'word' }, 20_000],
    read_memory: [{ key: 'k1' }, 45_000],
    list_memories: [{ limit: 100 }, 45_000],
    search_memories: [{ q: 'word', limit: 25 }, 30_000],
    memory_history: [{ key: 'k1', limit: 50 }, 20_000],
  }
  for (const [name, [args, bytes]] of Object.entries(most)) {
    const { text, body } = await post(service, { token, body: toolCall(name, args) })
    expect(body, name).not.toMatchObject({ result: { isError: true } })
    expect(Buffer.byteLength(text), name).toBeLessThan(bytes)
  }
})

describe('a named key', () => {
  async function named(access: 'read' | 'write') {
    const body = { name: 'notes', access, prefix: 'notes.' }
    const { operatorToken: token } = born
    const made = await service.call('POST', '/api/agents/me/keys/named', { token, body })
    for (const key of ['notes.a', 'plan']) await write(service, born.token, key, 'secret')
    return connect(service, String(made.body.token), 'modern', STRUCTURED)
  }

  test('that reads under a prefix sees only what it may, and changes nothing', async () => {
    const client = await named('read')
    const call = (name: string, args: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: args })
    expect((await call('list_memories')).structuredContent).toMatchObject({
      memories: [{ key: 'notes.a' }],
    })
    expect((await call('search_memories', { q: 'secret' })).structuredContent).toMatchObject({
      memories: [{ key: 'notes.a' }],
    })
    for (const args of [{}, { about: 'secret plan' }]) {
      const context = JSON.stringify(await call('get_context', args))
      expect(context).toContain('notes.a')
      expect(context).not.toContain('"key":"plan"')
    }
    expect((await client.listResources()).resources).toMatchObject([{ name: 'notes.a' }])
    await expect(client.readResource({ uri: 'memory:///plan' })).rejects.toThrow('not found')
    const refused: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['read_memory', { key: 'plan' }, 'key_out_of_reach'],
      ['memory_history', { key: 'plan' }, 'key_out_of_reach'],
      ['write_memory', { key: 'notes.a', text: 'x', expectedVersion: 1 }, 'key_read_only'],
      ['append_memory', { key: 'notes.a', text: 'x' }, 'key_read_only'],
      ['delete_memory', { key: 'notes.a', expectedVersion: 1 }, 'key_read_only'],
      ['restore_memory', { key: 'notes.a', version: 1, expectedVersion: 1 }, 'key_read_only'],
    ]
    for (const [name, args, code] of refused) {
      const answer = await call(name, args)
      expect(answer.isError, name).toBe(true)
      expect(JSON.stringify(answer.content), name).toContain(code)
      expect(JSON.stringify(answer), name).not.toContain('secret')
    }
  })

  test('that writes is named as the author', async () => {
    const client = await named('write')
    await client.callTool({ name: 'append_memory', arguments: { key: 'notes.a', text: 'x' } })
    const history = await client.callTool({ name: 'memory_history', arguments: { key: 'notes.a' } })
    expect(history.structuredContent).toMatchObject({
      versions: [
        { by: { as: 'agent', via: 'mcp', key: { name: 'notes' } } },
        { by: { via: 'api' } },
      ],
    })
  })
})
