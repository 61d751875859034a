/** The memory tools of the AI SDK, through its own loop, on a real home. */

import { VersionConflict } from 'agent-home-client'
import { MemoryToolError, memoryTools } from 'agent-home-client/ai-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../opened.ts'
import { caught } from '../outcome.ts'
import { drive, plan, use } from './drive.ts'
import type { Told } from './model.ts'

interface Read {
  readonly memory: { readonly text: string; readonly version: number }
}

const memoryIn = ({ value }: Told): Read['memory'] => (value as Read).memory

const valuesOf = (told: readonly Told[]) => told.map(({ value }) => value)

describe('the memory tools', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  test('are all that an agent needs, one after the other', async () => {
    const { home } = await opened.born()
    const updatedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    const { told } = await drive(
      home,
      use('get_context', {}),
      plan('Step 1', 0, { metadata: { pinned: true } }),
      plan('Step 2', 1),
      use('read_memory', { key: 'plan' }),
      use('read_memory', { key: 'plan', version: 1 }),
      use('append_memory', { key: 'log', text: 'Woke up.' }),
      use('append_memory', { key: 'log', text: ' Slept.' }),
      use('edit_memory', { key: 'log', old: 'Slept', new: 'Dozed' }),
      use('list_memories', {}),
      use('list_memories', { prefix: 'pl' }),
      use('search_memories', { q: 'When was it that I woke?' }),
      use('get_context', { about: 'Wake up', bytes: 4_000 }),
      use('delete_memory', { key: 'log', expectedVersion: 3 }),
      use('read_memory', { key: 'log' }),
    )
    expect(told.map(({ type }) => type)).toEqual(told.map(() => 'json'))
    const log = { key: 'log', version: 3, updatedAt, bytes: 15 }
    const planned = { key: 'plan', version: 2, updatedAt, bytes: 6 }
    expect(valuesOf(told)).toEqual([
      expect.objectContaining({ memoryCount: 0, pinned: [], changes: [] }),
      { saved: { key: 'plan', version: 1, updatedAt } },
      { saved: { key: 'plan', version: 2, updatedAt } },
      {
        memory: { key: 'plan', text: 'Step 2', metadata: { pinned: true }, version: 2, updatedAt },
      },
      {
        memory: { key: 'plan', text: 'Step 1', metadata: { pinned: true }, version: 1, updatedAt },
      },
      { saved: { key: 'log', version: 1, updatedAt } },
      { saved: { key: 'log', version: 2, updatedAt } },
      { saved: { key: 'log', version: 3, updatedAt } },
      { memories: [log, planned], next: null },
      { memories: [planned], next: null },
      {
        memories: [
          { key: 'log', version: 3, updatedAt, matched: ['woke'], text: 'Woke up. Dozed.' },
        ],
        missing: [],
        more: false,
      },
      expect.objectContaining({
        memoryCount: 2,
        pinned: [expect.objectContaining({ key: 'plan' })],
        found: [expect.objectContaining({ key: 'log', text: 'Woke up. Dozed.' })],
      }),
      { deleted: { key: 'log', version: 4, deletedAt: updatedAt } },
      { memory: null },
    ])
    expect(JSON.stringify(told)).not.toContain('/api/')
  })

  test('tell a model that was too late what to do, and doing it loses nothing', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    const { updatedAt } = await home.write('plan', 'A and B', { expectedVersion: 1 })
    const { told, errors } = await drive(
      home,
      plan('A and C', 1),
      use('read_memory', { key: 'plan' }),
      ([, read = { type: 'none' }]) => {
        const { text, version: expectedVersion } = memoryIn(read)
        const input = { key: 'plan', text: `${text} and C`, expectedVersion }
        return [{ tool: 'write_memory', input }]
      },
    )
    expect(told[0]).toEqual({
      type: 'error-text',
      value: `MemoryToolError: Nothing was changed: plan is at version 2, of ${updatedAt}. Call read_memory, reconcile your text with it, and call write_memory with expectedVersion 2.`,
    })
    expect(errors).toMatchObject([{ name: 'MemoryToolError', cause: { currentVersion: 2 } }])
    expect(errors[0]).toBeInstanceOf(MemoryToolError)
    expect((errors[0] as Error).cause).toBeInstanceOf(VersionConflict)
    expect(await home.read('plan')).toMatchObject({ text: 'A and B and C', version: 3 })
  })

  test('that are called at once change a memory once', async () => {
    const { home } = await opened.born()
    const calls = Array.from({ length: 8 }, (_, n) => ({
      tool: 'write_memory',
      input: { key: 'plan', text: `${n}`, expectedVersion: 0 },
    }))
    const { told } = await drive(home, calls)
    expect(told.filter(({ type }) => type === 'json')).toHaveLength(1)
    expect(told.filter(({ type }) => type === 'error-text')).toHaveLength(7)
    const lines = Array.from({ length: 20 }, (_, n) => `line ${n}\n`)
    await drive(
      home,
      lines.map((text) => ({ tool: 'append_memory', input: { key: 'log', text } })),
    )
    const log = (await home.read('log'))?.text ?? ''
    expect(log.match(/.*\n/g)?.toSorted()).toEqual(lines.toSorted())
  })

  test('answer in bounds, however many memories are there and whatever is asked for', async () => {
    const { home } = await opened.born()
    const keys = Array.from({ length: 130 }, (_, n) => `m${String(n).padStart(4, '0')}`)
    await Promise.all(keys.map((key) => home.write(key, 'A word.', { expectedVersion: 0 })))
    const hay = 'Hay. '.repeat(200)
    await home.write('hay', `${hay}A needle.`, { expectedVersion: 0 })
    const { told } = await drive(
      home,
      use('list_memories', { limit: 1_000, prefix: 'm' }),
      use('list_memories', { limit: 1_000, after: 'm0099' }),
      use('list_memories', { limit: 'many', prefix: 'm' }),
      use('search_memories', { q: 'word', limit: 1_000 }),
      use('search_memories', { q: 'word', limit: -1 }),
      use('search_memories', { q: 'Where is a needle for a zebra?', around: 1 }),
    )
    const pages = valuesOf(told) as {
      memories: { key: string; snippet?: string }[]
      missing?: readonly string[]
      next?: string | null
      more?: boolean
    }[]
    expect(pages.map(({ memories }) => memories.length)).toEqual([100, 30, 50, 25, 10, 1])
    expect(pages.map(({ next, more }) => next ?? more)).toEqual([
      'm0099',
      undefined,
      'm0049',
      true,
      true,
      false,
    ])
    expect(pages.at(-1)).toMatchObject({
      memories: [{ before: [], after: [] }],
      missing: ['zebra'],
    })
    expect(pages.at(-1)?.memories[0]?.snippet).toMatch(/^….*Hay. A needle.$/)
    expect(pages.slice(0, 2).flatMap(({ memories }) => memories.map(({ key }) => key))).toEqual(
      keys,
    )
  })

  test('replace metadata only where others are sent', async () => {
    const { home } = await opened.born()
    await drive(home, plan('A', 0, { metadata: { pinned: true } }), plan('B', 1))
    expect((await home.read('plan'))?.metadata).toEqual({ pinned: true })
    await drive(home, plan('C', 2, { metadata: {} }))
    expect((await home.read('plan'))?.metadata).toEqual({})
  })

  test('end with the signal of the loop', async () => {
    const { home } = await opened.born()
    const reason = new Error('the user left')
    const options = {
      toolCallId: 'call_1',
      messages: [],
      abortSignal: AbortSignal.abort(reason),
      context: {},
    }
    const tools = memoryTools(home)
    const calls = [
      tools.get_context.execute?.({}, options),
      tools.read_memory.execute?.({ key: 'plan' }, options),
      tools.write_memory.execute?.({ key: 'plan', text: 'A', expectedVersion: 0 }, options),
      tools.append_memory.execute?.({ key: 'plan', text: 'A' }, options),
      tools.edit_memory.execute?.({ key: 'plan', old: 'A', new: 'B' }, options),
      tools.list_memories.execute?.({}, options),
      tools.search_memories.execute?.({ q: 'A' }, options),
      tools.delete_memory.execute?.({ key: 'plan', expectedVersion: 1 }, options),
    ]
    expect(await Promise.all(calls.map((call) => caught(Promise.resolve(call))))).toEqual(
      calls.map(() => reason),
    )
  })
})
