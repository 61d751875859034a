/** Each tool, by the official client in both eras of the protocol. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Born, embedded, openService, type TestService } from '../harness.ts'
import { connect, eras, STRUCTURED } from './clients.ts'

let service: TestService
let born: Born
let client: Client
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

const call = (name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args })

const textOf = ({ content }: Awaited<ReturnType<typeof call>>): string =>
  content.map((each) => (each.type === 'text' ? each.text : '')).join('\n')

const write = (key: string, text: string, expectedVersion = 0, metadata = {}) =>
  call('write_memory', { key, text, metadata, expectedVersion })

const names = [
  'get_context',
  'read_memory',
  'list_memories',
  'search_memories',
  'memory_history',
  'recent_changes',
  'write_memory',
  'append_memory',
  'edit_memory',
  'delete_memory',
  'restore_memory',
  'rename_memory',
]

test('a search answers a question with short texts whole, and says what helps where none does', async () => {
  born = await service.birth()
  client = await connect(service, born.token, 'modern', STRUCTURED)
  await write('ann', 'Ann likes green tea.\nWith honey.')
  await write('long', `${'hay '.repeat(200)}and a tea house`)
  await write('said', 'To be, or not to be.')
  const ask = async (q: string) =>
    textOf(await call('search_memories', { q })).replaceAll(/20\d\d-\S+Z/g, 'TIME')
  expect(await ask('Who likes tea?')).toMatch(
    /^ann, version 1, TIME, matched likes, tea:\nAnn likes green tea.\nWith honey.\n\nlong, version 1, TIME, matched tea, in part:\n….* and a tea house\n$/,
  )
  expect(await ask('tea "not to be"')).toBe('said, version 1, TIME:\nTo be, or not to be.\n')
  expect(await ask('zebra')).toContain('call list_memories')
  expect(await ask('zebra tea')).toMatch(/\n\nNo memory has: zebra\.$/)
})

test('what is beside a hit and which words are missing is told in words, and as a value', async () => {
  born = await service.birth()
  client = await connect(service, born.token, 'modern', STRUCTURED)
  await write('talk.1', 'Who likes tea?')
  await write('talk.2', 'Ann.')
  await write('talk.3', 'hay '.repeat(200))
  const args = { q: 'Is Ann a zebra?', around: 1 }
  const found = await call('search_memories', args)
  expect(textOf(found)).toMatch(
    /^talk\.2, version 1, \S+, matched ann:\nAnn\.\nBefore it, talk\.1, version 1: Who likes tea\?\nAfter it, talk\.3, version 1, its beginning: hay .*…\n\nNo memory has: zebra\.$/s,
  )
  expect(found.structuredContent).toMatchObject({
    memories: [{ before: [{ key: 'talk.1', text: 'Who likes tea?' }], after: [{ key: 'talk.3' }] }],
    missing: ['zebra'],
  })
  const context = await call('get_context', { about: args.q, around: 1 })
  expect(textOf(context)).toMatch(
    /talk\.2, version 1, found:\nAnn\.\nBefore it, talk\.1, version 1: Who likes tea\?\nAfter it, talk\.3, .*…\n\nNo memory has: zebra\.\n\n/s,
  )
  expect(context.structuredContent).toMatchObject({
    found: [{ key: 'talk.2', before: [{ key: 'talk.1' }], after: [{ key: 'talk.3' }] }],
    missing: ['zebra'],
  })
  const alone = await call('get_context', { about: ' ' })
  expect(alone.structuredContent).toMatchObject({ found: [] })
  expect(textOf(await call('search_memories', { q: 'x', around: 3 }))).toContain('around')
})

describe.each(eras)('a client of $version', ({ era, version }) => {
  beforeEach(async () => {
    born = await service.birth()
    client = await connect(service, born.token, era, STRUCTURED)
  })

  test('negotiates its revision, and is told what this is', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(client.getServerVersion()).toMatchObject({ name: 'agent-home', version: '2.0.0' })
    expect(client.getInstructions()?.split('. ')).toHaveLength(3)
  })

  test('finds the tools, each with its schema and annotations', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(names)
    for (const { annotations, inputSchema, description } of tools) {
      expect(Object.keys(annotations ?? {}).toSorted()).toEqual(
        ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].toSorted(),
      )
      expect(inputSchema).toMatchObject({ type: 'object' })
      expect(description).toBeTruthy()
    }
    const kinds = tools.map(({ name, annotations: a }) => [
      name,
      ...[a?.readOnlyHint, a?.destructiveHint, a?.idempotentHint, a?.openWorldHint].map(Number),
    ])
    expect(kinds).toEqual([
      ['get_context', 1, 0, 1, 0],
      ['read_memory', 1, 0, 1, 0],
      ['list_memories', 1, 0, 1, 0],
      ['search_memories', 1, 0, 1, 0],
      ['memory_history', 1, 0, 1, 0],
      ['recent_changes', 1, 0, 1, 0],
      ['write_memory', 0, 0, 1, 0],
      ['append_memory', 0, 0, 0, 0],
      ['edit_memory', 0, 0, 0, 0],
      ['delete_memory', 0, 1, 1, 0],
      ['restore_memory', 0, 0, 1, 0],
      ['rename_memory', 0, 0, 0, 0],
    ])
  })

  test('a context says in words, too, how many memories did not fit', async () => {
    for (const key of ['a', 'b', 'c']) await write(key, 'x'.repeat(1_200), 0, { pinned: true })
    for (let n = 0; n < 30; n++) await write(`other.${n}`, 'y')
    const context = await call('get_context', { bytes: 2_000 })
    const { leftOut } = context.structuredContent as {
      leftOut: { pinned: number; memories: number }
    }
    expect([leftOut.pinned > 0, leftOut.memories > 0]).toEqual([true, true])
    expect(textOf(context)).toContain(
      `Left out: ${leftOut.pinned} pinned memories, and ${leftOut.memories} others.`,
    )
  })

  test('a context says in words when nothing but pinned memories did not fit', async () => {
    for (const key of ['a', 'b', 'c']) await write(key, 'x'.repeat(1_800), 0, { pinned: true })
    expect(textOf(await call('get_context', { bytes: 2_000 }))).toMatch(
      /Left out: [1-3] pinned memories, and 0 others\./,
    )
  })

  test('writes, reads, appends, lists, searches, deletes and restores', async () => {
    await client.listTools()
    expect((await write('plan', 'Step 1', 0, { run: 12 })).structuredContent).toMatchObject({
      memory: { key: 'plan', version: 1 },
    })
    const read = await call('read_memory', { key: 'plan' })
    expect(read.structuredContent).toMatchObject({
      memory: { key: 'plan', text: 'Step 1', metadata: { run: 12 }, version: 1 },
    })
    expect(textOf(read)).toMatch(/^plan, version 1, \S+, metadata \{"run":12\}\n\nStep 1$/)
    await call('append_memory', { key: 'plan', text: ', then step 2', line: false })
    await client.callTool({
      name: 'write_memory',
      arguments: { key: 'kept', text: 'A', metadata: { pinned: true }, expectedVersion: 0 },
    })
    const again = { key: 'kept', text: 'B', expectedVersion: 1 }
    await client.callTool({ name: 'write_memory', arguments: again })
    expect((await call('read_memory', { key: 'kept' })).structuredContent).toMatchObject({
      memory: { text: 'B', metadata: { pinned: true }, version: 2 },
    })
    await call('delete_memory', { key: 'kept', expectedVersion: 2 })
    const listed = await call('list_memories')
    expect(listed.structuredContent).toMatchObject({
      memories: [{ key: 'plan', version: 2, bytes: 19 }],
      next: null,
    })
    const found = await call('search_memories', { q: 'step' })
    expect(textOf(found)).toMatch(
      /^plan, version 2, \S+, metadata \{"run":12\}, matched step:\nStep 1, then step 2\n$/,
    )
    const elsewhere = await call('search_memories', { q: 'step', prefix: 'notes.' })
    expect(elsewhere.structuredContent).toEqual({ memories: [], next: null, missing: [] })
    const context = await call('get_context', { about: 'Which step is next?' })
    expect(context.structuredContent).toMatchObject({ found: [{ key: 'plan' }] })
    expect(textOf(context)).toContain(
      'plan, version 2, metadata {"run":12}, found:\nStep 1, then step 2',
    )
    const deleted = await call('delete_memory', { key: 'plan', expectedVersion: 2 })
    expect(deleted.structuredContent).toMatchObject({ deleted: { key: 'plan', version: 3 } })
    const history = await call('memory_history', { key: 'plan', limit: 2 })
    expect(history.structuredContent).toMatchObject({
      versions: [
        { version: 3, operation: 'delete', by: { as: 'agent', via: 'mcp' } },
        { version: 2, operation: 'append', by: { as: 'agent', via: 'mcp' } },
      ],
      next: 2,
    })
    const before = await call('memory_history', { key: 'plan', before: 2 })
    expect(before.structuredContent).toMatchObject({
      versions: [{ version: 1, operation: 'write' }],
      next: null,
    })
    const restored = await call('restore_memory', { key: 'plan', version: 2, expectedVersion: 0 })
    expect(restored.structuredContent).toMatchObject({ memory: { version: 4 } })
    const earlier = await call('read_memory', { key: 'plan', version: 1 })
    expect(earlier.structuredContent).toMatchObject({ memory: { text: 'Step 1', version: 1 } })
  })

  test('appends a line of its own, and says what others changed since it was last here', async () => {
    for (const text of ['one', 'two']) await call('append_memory', { key: 'lines', text })
    expect(textOf(await call('read_memory', { key: 'lines' }))).toMatch(/\n\none\ntwo$/)
    await service.call('POST', '/api/agents/me/batch', {
      token: born.operatorToken,
      body: { operations: [{ rename: { from: 'lines', to: 'lines.old', expectedVersion: 2 } }] },
    })
    const context = textOf(await call('get_context', {}))
    expect(context).toContain(
      'Since you were last here, others changed:\nlines.old: renamed from lines by the operator, ',
    )
    expect(context).toMatch(/\nlines\.old, version 3:\none\ntwo/)
    expect(context).not.toMatch(/[0-9a-f]{64}/)
    const told = await client.callTool({
      name: 'append_memory',
      arguments: { key: 'lines.old', text: 'x'.repeat(16_384) },
    })
    expect(textOf(told)).toContain(
      'text_too_large: Nothing was written: lines.old has 7 of the 16384',
    )
    expect(textOf(told)).toContain('lines.old.2')
    await call('append_memory', { key: 'mine', text: 'x' })
    expect(textOf(await call('get_context', {}))).not.toContain('Since you were last here')
  })
})
