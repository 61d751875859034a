/** The library judges the first call of a kind; those after it are answered as it answers. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'
import { type Era, eras } from './clients.ts'
import { post } from './messages.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await openService(embedded)
  token = (await service.birth()).token
})
afterAll(() => service.close())

type Json = Record<string, unknown>

interface Sent {
  readonly headers: Record<string, string>
  readonly body: Json & { params: Json }
}

/** Nobody sent its like before: the name makes its envelope another. */
function callOf(era: Era, version: string, tool: string, args: unknown): Sent {
  const name = randomUUID()
  const clientInfo = { name, version: '1' }
  const modern = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const _meta = era === 'modern' ? modern : { 'test/name': name }
  return {
    headers: {
      'mcp-protocol-version': version,
      ...(era === 'modern' && { 'mcp-method': 'tools/call', 'mcp-name': tool }),
    },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args, _meta },
    },
  }
}

async function answerTo({ headers, body }: Sent) {
  const given = await post(service, { token, headers, body })
  return { status: given.status, type: given.headers.get('content-type'), body: given.body }
}

const withParams = ({ headers, body }: Sent, params: Json): Sent => ({
  headers,
  body: { ...body, params: { ...body.params, ...params } },
})

const calls: readonly (readonly [string, string, unknown])[] = [
  ['reads', 'read_memory', { key: 'plan' }],
  ['lists', 'list_memories', {}],
  ['is refused for a version', 'write_memory', { key: 'plan', text: 'x', expectedVersion: 7 }],
  ['is refused for its arguments', 'write_memory', { key: 'no spaces', other: 1 }],
  ['misses', 'read_memory', { key: 'nothing' }],
]

describe.each(eras)('a call of $version', ({ era, version }) => {
  beforeAll(async () => {
    const metadata = { n: 1.5, exact: 9_007_199_254_740_991, text: '"\\é' }
    const memory = { key: 'plan', text: 'line\n"two"', metadata, expectedVersion: 0 }
    await service.call('POST', '/api/agents/me/memory', { token, body: memory })
  })

  test.each(calls)('that %s is answered alike each time', async (_, tool, args) => {
    const sent = callOf(era, version, tool, args)
    const first = await answerTo(sent)
    expect(first.body).toMatchObject({ id: 1, result: { content: expect.any(Array) } })
    expect(await answerTo(sent)).toEqual(first)
    for (const id of ['"', 0]) {
      const { status, body } = await answerTo({ ...sent, body: { ...sent.body, id } })
      expect([status, body]).toEqual([200, { ...first.body, id }])
    }
  })

  test('whose members stand in another order is the same call', async () => {
    const sent = callOf(era, version, 'read_memory', { key: 'plan' })
    const { id, ...rest } = sent.body
    for (const turned of [sent, { ...sent, body: { ...rest, id } }]) {
      const first = await answerTo(turned)
      expect(first.body).toMatchObject({ id, result: { content: [{ type: 'text' }] } })
      expect(await answerTo(turned)).toEqual(first)
    }
  })

  test('that differs from one that was accepted is judged anew', async () => {
    const sent = callOf(era, version, 'read_memory', { key: 'plan' })
    const { headers, body } = sent
    const without = (name: string) =>
      Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name))
    const others: readonly Sent[] = [
      ...['mcp-protocol-version', 'mcp-method', 'mcp-name'].flatMap((name) => [
        { body, headers: without(name) },
        { body, headers: { ...headers, [name]: 'list_memories' } },
      ]),
      { body, headers: { ...headers, 'mcp-protocol-version': '2019-01-01' } },
      { headers, body: { ...body, id: 1.5 } },
      { headers, body: { ...body, method: 'tools/call2' } },
      ...[[], 'plan', null, 7].map((args) => withParams(sent, { arguments: args })),
      withParams(sent, { name: 'no_tool' }),
      withParams(sent, { name: 'list_memories', arguments: {} }),
      withParams(sent, { _meta: { 'io.modelcontextprotocol/protocolVersion': '2019-01-01' } }),
      withParams(sent, { _meta: 7 }),
    ]
    const before = await Promise.all(others.map(answerTo))
    for (let n = 0; n < 2; n++) expect((await answerTo(sent)).status).toBe(200)
    expect(await Promise.all(others.map(answerTo))).toEqual(before)
    expect(before.filter(({ body: { result } }) => result === undefined).length).toBe(
      era === 'modern' ? 17 : 11,
    )
  })
})
