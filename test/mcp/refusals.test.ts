/** What an agent is told when a tool could not do what it was asked, in both eras. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools/index.ts'
import { type Born, embedded, openService, type TestService } from '../harness.ts'
import { connect, eras, STRUCTURED } from './clients.ts'

let service: TestService
let born: Born
let client: Client
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '12', MEMORIES_PER_AGENT: '2' })
})
afterAll(() => service.close())

interface Refusal {
  readonly said: string
  readonly members: Readonly<Record<string, unknown>>
}

/** The sentence, and what programs read. */
async function refused(name: string, args: Record<string, unknown>): Promise<Refusal> {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
  expect(isError).toBe(true)
  expect(content).toHaveLength(1)
  const [said = ''] = content.map((each) => (each.type === 'text' ? each.text : ''))
  // What is told is told in the words of tools.
  expect(said).not.toMatch(/\/api\/|Retry-After|If-Match|POST |GET /)
  return { said, members: structuredContent as Refusal['members'] }
}

const write = (key: string, text: string, expectedVersion: number) =>
  client.callTool({ name: 'write_memory', arguments: { key, text, expectedVersion } })

describe.each(eras)('a client of $version is told', ({ era }) => {
  beforeEach(async () => {
    born = await service.birth()
    client = await connect(service, born.token, era, STRUCTURED)
  })

  test('which version is there, and what to do', async () => {
    await write('plan', 'one', 0)
    await write('plan', 'two', 1)
    const { said, members } = await refused('write_memory', {
      ...{ key: 'plan', text: 'three', expectedVersion: 1 },
    })
    expect(said).toBe(
      'version_conflict: Nothing was changed: the memory is at version 2. Read it with read_memory, reconcile your text with it, and send expectedVersion 2.',
    )
    expect(members).toMatchObject({ code: 'version_conflict', currentVersion: 2 })
    const again = await refused('write_memory', { key: 'plan', text: 'two', expectedVersion: 1 })
    expect(again.said).toContain('your write has been made')
    expect(again.members).toMatchObject({ sameContent: true })
  })

  test('that a memory was deleted, and how it comes back', async () => {
    await write('plan', 'one', 0)
    await client.callTool({
      name: 'delete_memory',
      arguments: { key: 'plan', expectedVersion: 1 },
    })
    const back = 'bring it back with restore_memory, version 1 and expectedVersion 0'
    expect((await refused('read_memory', { key: 'plan' })).said).toContain(back)
    const late = { key: 'plan', text: 'two', expectedVersion: 1 }
    expect((await refused('write_memory', late)).said).toContain(back)
    expect((await refused('read_memory', { key: 'other' })).said).toContain('list_memories')
  })

  test('under which key a memory is that was renamed', async () => {
    await write('plan', 'one', 0)
    await service.call('POST', '/api/agents/me/batch', {
      token: born.token,
      body: { operations: [{ rename: { from: 'plan', to: 'plan.old', expectedVersion: 1 } }] },
    })
    const there = 'the memory was renamed to plan.old: use that key.'
    expect((await refused('read_memory', { key: 'plan' })).said).toContain(there)
    const late = { key: 'plan', text: 'two', expectedVersion: 1 }
    expect((await refused('write_memory', late)).said).toContain(there)
  })

  test('which argument does not fit', async () => {
    const args = { key: 'no spaces', text: 'x', expectedVersion: -1, content: 'x' }
    const { said, members } = await refused('write_memory', args)
    expect(said.split('\n')).toEqual([
      'invalid_body: The arguments are not valid. Correct the ones named and call the tool again.',
      '/key: must be 1 to 100 letters, digits, underscores, dots or hyphens',
      '/expectedVersion: must be at least 0',
      '/content: is not a known property; it is called "text"',
      'write_memory takes key, text, metadata (optional), expectedVersion.',
    ])
    expect(members).toMatchObject({ code: 'invalid_body', status: 400 })
    const long = { key: 'plan', text: 'é'.repeat(8_193), expectedVersion: 0 }
    expect((await refused('write_memory', long)).members).toMatchObject({ code: 'text_too_large' })
  })

  test('not what a library fills with null: it is as if left out', async () => {
    const given = { expectedVersion: 0, metadata: { pinned: true, n: 1 } }
    const call = (name: string, args: object) =>
      client.callTool({ name, arguments: { key: 'plan', ...args } })
    expect((await call('write_memory', { text: 'one', ...given })).isError).toBeFalsy()
    const again = { text: 'two', metadata: null, expectedVersion: 1 }
    expect((await call('write_memory', again)).isError).toBeFalsy()
    const { structuredContent } = await call('read_memory', { version: null })
    expect(structuredContent).toMatchObject({
      memory: { text: 'two', metadata: { pinned: true, n: 1 }, version: 2 },
    })
    const { said } = await refused('write_memory', { key: null, text: 'x', expectedVersion: 0 })
    expect(said).toContain('/key: is missing')
  })

  test('that it keeps all that it may, and then that it has written too often', async () => {
    for (const key of ['a', 'b']) await write(key, 'x', 0)
    const more = { key: 'c', text: 'x', expectedVersion: 0 }
    expect((await refused('write_memory', more)).members).toMatchObject({
      code: 'memory_quota_reached',
    })
    for (let n = 0; n < 9; n++) await write('a', 'x', 9)
    const { said, members } = await refused('write_memory', more)
    expect(said).toMatch(/^rate_limited: Too many requests: wait \d+ seconds\./)
    expect(members).toMatchObject({ code: 'rate_limited', retryAfterSeconds: expect.any(Number) })
    // Reads are counted apart.
    expect((await client.callTool({ name: 'list_memories' })).isError).toBeFalsy()
  })

  test('that it is paused, which costs it nothing', async () => {
    const { operatorToken: token } = born
    await service.call('PATCH', '/api/agents/me', { token, body: { status: 'paused' } })
    for (let n = 0; n < 13; n++) {
      const { said } = await refused('write_memory', { key: 'a', text: 'x', expectedVersion: 0 })
      expect(said).toMatch(/^agent_paused: Stop, and ask the operator/)
    }
    expect((await client.listTools()).tools).toHaveLength(tools.length)
    await expect(client.listResources()).rejects.toThrow('agent_paused')
    const operator = await connect(service, token, era)
    expect((await operator.callTool({ name: 'list_memories' })).isError).toBeFalsy()
  })

  test('that a tool is none', async () => {
    await expect(client.callTool({ name: 'toString' })).rejects.toThrow('There is no tool toString')
  })
})
