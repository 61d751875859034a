/** What happened, what was deleted, and renames: each by text, as a model gets it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { appBeside, type Born, embedded, openService, type TestService, write } from '../harness.ts'
import { connect } from './clients.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
let born: Born
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
})
afterAll(() => service.close())
beforeEach(async () => {
  born = await service.birth()
})

async function tool(name: string, args: object = {}, token = born.token, at = service) {
  const { body } = await post(at, { token, body: toolCall(name, args) })
  const { content, isError = false } = (
    body as { result: { content: { text: string }[]; isError?: boolean } }
  ).result
  return { said: content[0]?.text ?? '', isError }
}

const said = async (...asked: Parameters<typeof tool>) => (await tool(...asked)).said

const remove = (key: string, expectedVersion: number) =>
  tool('delete_memory', { key, expectedVersion })

async function named(access: 'read' | 'write', prefix: string): Promise<string> {
  const options = { token: born.operatorToken, body: { name: 'notes', access, prefix } }
  return String((await service.call('POST', '/api/agents/me/keys/named', options)).body.token)
}

const lines = (text: string) => text.replaceAll(/20\d\d-\S+Z/g, 'TIME').split('\n')

/** Every page, by what the text says to send next. */
async function pages(name: string, args: object, argument = 'after'): Promise<string[][]> {
  const all: string[][] = []
  for (let next: object | undefined = {}; next; ) {
    const page = lines(await said(name, { ...args, ...next }))
    const [, to] = /^More: send after "?([^"]+?)"?\.$/.exec(page.at(-1) ?? '') ?? []
    all.push(to === undefined ? page : page.slice(0, -1))
    next = to === undefined ? undefined : { [argument]: to }
  }
  return all
}

describe('list_memories with deleted', () => {
  test('lists what can be restored, and how', async () => {
    await write(service, born.token, 'gone', 'text')
    await write(service, born.token, 'here', 'text')
    await remove('gone', 1)
    expect(lines(await said('list_memories', { deleted: true }))).toEqual([
      'gone: version 1, 4 bytes, deleted TIME, by the agent through mcp',
      'restore_memory with such a version and expectedVersion 0 brings one back.',
    ])
    await said('restore_memory', { key: 'gone', version: 1, expectedVersion: 0 })
    expect(await said('list_memories', { deleted: true })).toBe(
      'No deleted memory can be restored.',
    )
  })

  test('has pages and prefixes, and only what a key may see', async () => {
    const keys = ['a.1', 'a.2', 'a.3', 'b.1']
    for (const key of keys) {
      await write(service, born.token, key, 'x')
      await remove(key, 1)
    }
    const all = await pages('list_memories', { deleted: true, limit: 3 })
    expect(all.map((page) => page.slice(0, -1).map((line) => line.split(':')[0]))).toEqual([
      ['a.1', 'a.2', 'a.3'],
      ['b.1'],
    ])
    expect(await said('list_memories', { deleted: true, prefix: 'b.' })).not.toContain('a.1')
    const reader = await named('read', 'b.')
    expect(await said('list_memories', { deleted: true }, reader)).not.toContain('a.1')
    expect(await said('list_memories', { deleted: true, prefix: 'a.' }, reader)).toMatch(/^key_out/)
    expect(await said('list_memories', { deleted: true, order: 'changed' })).toContain('/deleted: ')
  })
})

describe('recent_changes', () => {
  test('tells who did what, deletions and renames too, without hashes', async () => {
    await said('write_memory', { key: 'plan', text: 'x', expectedVersion: 0 })
    await said('rename_memory', { from: 'plan', to: 'plan.old' })
    await write(service, born.operatorToken, 'other', 'x')
    await said('delete_memory', { key: 'plan.old', expectedVersion: 2 })
    const text = await said('recent_changes')
    expect(text).not.toMatch(/[0-9a-f]{32}/)
    expect(lines(text)).toEqual([
      'TIME delete plan.old, version 3, by the agent through mcp',
      'TIME write other, version 1, by the operator through api',
      'TIME rename plan to plan.old, version 2, by the agent through mcp',
      'TIME write plan, version 1, by the agent through mcp',
    ])
    expect(lines(await said('recent_changes', { key: 'plan' }))).toHaveLength(2)
    expect(lines(await said('recent_changes', { prefix: 'plan.' }))).toHaveLength(2)
    expect(await said('recent_changes', { key: 'plan', prefix: 'p' })).toContain('/prefix: cannot')
    expect(await said('recent_changes', { since: '2100-01-01T00:00:00Z' })).toBe(
      'Nothing happened.',
    )
    expect(await said('recent_changes', { since: 'yesterday' })).toContain('/since: must be a time')
  })

  test('names the key that was used', async () => {
    const token = await named('write', 'notes.')
    await said('write_memory', { key: 'notes.a', text: 'x', expectedVersion: 0 }, token)
    const [newest, before] = lines(await said('recent_changes'))
    expect(newest).toBe('TIME write notes.a, version 1, by the agent (key notes) through mcp')
    expect(before).toMatch(/^TIME create_key notes, by the operator through api$/)
  })

  test('has pages: every event once, newest first', async () => {
    for (let n = 1; n <= 7; n++) await write(service, born.token, `k${n}`, 'x')
    const all = await pages('recent_changes', { limit: 3 })
    expect(all.map((page) => page.length)).toEqual([3, 3, 1])
    expect(all.flat().map((line) => / k(\d),/.exec(line)?.[1])).toEqual([...'7654321'])
  })

  test('shows a key with a prefix nothing of the others, not even their names', async () => {
    const token = await named('read', 'notes.')
    await write(service, born.token, 'plan', 'x')
    await write(service, born.token, 'notes.a', 'x')
    await said('rename_memory', { from: 'plan', to: 'notes.b' })
    await said('rename_memory', { from: 'notes.a', to: 'secret' })
    const text = await said('recent_changes', {}, token)
    expect(text).not.toMatch(/plan|secret/)
    expect(lines(text)).toEqual([
      'TIME rename notes.a to another key, by the agent through mcp',
      expect.stringMatching(/^TIME rename another key to notes\.b, version \d, /),
      'TIME write notes.a, version 1, by the agent through api',
    ])
    expect(await said('recent_changes', { key: 'plan' }, token)).toMatch(/^key_out_of_reach: /)
    expect(await said('recent_changes', { prefix: 'plan' }, token)).toMatch(/^key_out_of_reach: /)
  })
})

describe('rename_memory', () => {
  const keys = async () => lines(await said('list_memories')).map((line) => line.split(':')[0])

  test('renames one, with its history, under the version that is sent', async () => {
    await write(service, born.token, 'a', 'x')
    const late = await said('rename_memory', { from: 'a', to: 'b', expectedVersion: 7 })
    expect(late).toMatch(/^version_conflict: .* is at version 1\./)
    expect(await said('rename_memory', { from: 'a', to: 'b', expectedVersion: 1 })).toBe(
      'a is now b, version 2.',
    )
    expect(lines(await said('memory_history', { key: 'b' }))).toHaveLength(2)
    expect(await said('rename_memory', { from: 'a', to: 'c' })).toContain('was renamed to b')
    expect(await said('rename_memory', { from: 'b', to: 'b' })).toMatch(/^key_taken: /)
    expect(await said('rename_memory', { from: 'b', to: '' })).toContain('/to: must not be empty')
    expect(await keys()).toEqual(['b'])
  })

  test('renames all with a prefix, as one change each', async () => {
    const before = Array.from({ length: 100 }, (_, n) => `old.${String(n).padStart(2, '0')}`)
    for (const key of [...before, 'other']) await write(service, born.token, key, 'x')
    const text = await said('rename_memory', { from: 'old.', to: 'new.', all: true })
    expect(lines(text)).toHaveLength(100)
    expect(lines(text)[7]).toBe('old.07 is now new.07, version 2.')
    expect(await said('list_memories', { prefix: 'old.' })).toBe('There are no memories.')
    expect(await said('list_memories', { prefix: 'other' })).toContain('other: version 1')
    expect(lines(await said('recent_changes', { limit: 1 }))[0]).toContain(
      'rename old.99 to new.99',
    )
    expect(await said('rename_memory', { from: 'new.', to: '', all: 'true' })).toContain('now 07,')
    expect(await said('rename_memory', { from: 'nothing.', to: 'x', all: true })).toContain(
      '/from: starts no key',
    )
  })

  test('renames nothing if one cannot be: taken, too long, too many, without a key', async () => {
    for (const key of ['a.1', 'a.2', 'b.2']) await write(service, born.token, key, 'x')
    const taken = await said('rename_memory', { from: 'a.', to: 'b.', all: true })
    expect(taken).toMatch(/^batch_conflict: Nothing was changed\. .*\na\.2 to b\.2: key_taken: /)
    expect(taken).not.toContain('a.1')
    const same = await said('rename_memory', { from: 'a.', to: 'a.', all: true })
    expect(lines(same).slice(1)).toEqual([
      expect.stringMatching(/^a\.1 to a\.1, a\.2 to a\.2: key_taken: Nothing was renamed\./),
    ])
    const long = await said('rename_memory', { from: 'a.', to: 'x'.repeat(100), all: true })
    expect(long).toContain('/to: gives a.1 a key of 101 characters: keys have 1 to 100')
    await write(service, born.token, 'a.', 'x')
    expect(await said('rename_memory', { from: 'a.', to: '', all: true })).toContain(
      '/to: gives a. a key of 0 characters',
    )
    const versioned = await said('rename_memory', {
      ...{ from: 'a.', to: 'c.', all: true, expectedVersion: 1 },
    })
    expect(versioned).toContain('/expectedVersion: is of one memory')
    for (let n = 0; n < 101; n++) await write(service, born.token, `many.${n}`, 'x')
    const many = await said('rename_memory', { from: 'many.', to: 'few.', all: true })
    expect(many).toContain('/from: starts more than 100 keys: rename them in parts')
    expect(await keys()).toEqual(expect.arrayContaining(['a.', 'a.1', 'a.2', 'b.2']))
    expect(await said('list_memories', { prefix: 'few.' })).toBe('There are no memories.')
  })

  test('is refused to a key that may not see or write both ends', async () => {
    for (const key of ['notes.a', 'notes.b', 'note', 'plan']) {
      await write(service, born.token, key, 'x')
    }
    const writer = await named('write', 'notes.')
    const out: readonly object[] = [
      { from: 'plan', to: 'notes.c' },
      { from: 'notes.a', to: 'plan.a' },
      { from: 'n', to: 'm', all: true },
      { from: 'note', to: 'notes.', all: true },
      { from: 'notes.', to: '', all: true },
      { from: 'notes.', to: 'public.', all: true },
      { from: 'pla', to: 'notes.', all: true },
    ]
    for (const args of out) {
      const { said: text, isError } = await tool('rename_memory', args, writer)
      expect([isError, text], JSON.stringify(args)).toEqual([
        true,
        expect.stringMatching(/^key_out_of_reach: /),
      ])
      expect(text).not.toContain('version')
    }
    const reader = await named('read', 'notes.')
    for (const args of [
      { from: 'notes.a', to: 'notes.c' },
      { from: 'notes.', to: 'notes.x', all: true },
    ]) {
      expect(await said('rename_memory', args, reader)).toMatch(/^key_read_only: /)
    }
    expect(await keys()).toEqual(['note', 'notes.a', 'notes.b', 'plan'])
    const moved = await said(
      'rename_memory',
      { from: 'notes.', to: 'notes.old.', all: true },
      writer,
    )
    expect(lines(moved)).toHaveLength(2)
  })

  test('renames nothing if one is protected, or changed meanwhile', async () => {
    for (const key of ['a.1', 'a.2', 'b.1']) await write(service, born.token, key, 'x')
    const { listMemories } = service.store
    const app = appBeside(service, {
      async listMemories(...asked) {
        const listed = await listMemories(...asked)
        await tool('append_memory', { key: 'a.2', text: 'y' })
        return listed
      },
    })
    const args = { from: 'a.', to: 'c.', all: true }
    const late = await connect({ ...service, app }, born.token, 'modern')
    const { content } = await late.callTool({ name: 'rename_memory', arguments: args })
    expect(JSON.stringify(content)).toMatch(
      /"batch_conflict: .*\\na\.2 to c\.2: version_conflict: .* is at version 2\./,
    )
    await service.call('POST', '/api/agents/me/memory/protect', {
      token: born.operatorToken,
      body: { key: 'a.1', protected: true },
    })
    expect(await said('rename_memory', args)).toMatch(/\na\.1 to c\.1: memory_protected: /)
    expect(await said('rename_memory', { from: 'a.1', to: 'x' })).toMatch(/^memory_protected: /)
    expect(await keys()).toEqual(['a.1', 'a.2', 'b.1'])
  })

  test('counts each memory as a write, and is not begun if too few are left', async () => {
    const few = await openService(embedded, { WRITES_PER_MINUTE: '8' })
    const { token, operatorToken } = await few.birth()
    for (const n of [1, 2, 3, 4, 5]) await write(few, operatorToken, `a.${n}`, 'x')
    const rename = (from: string, to: string) =>
      said('rename_memory', { from, to, all: true }, token, few)
    expect(lines(await rename('a.', 'b.'))).toHaveLength(5)
    expect(await rename('b.', 'c.')).toMatch(
      /^rate_limited: This counts as 5 requests, and only 3 were left\. Rename fewer at once, or wait \d+ seconds\./,
    )
    expect(await said('list_memories', { prefix: 'c.' }, token, few)).toBe('There are no memories.')
    await few.close()
  })
})
