/** What the memory tools of the AI SDK tell a model that cannot have what it asks for. */
import { OutcomeUnknown } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLossyWay } from '../lossy.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { drive, plan, use } from './drive.ts'
import type { Step } from './model.ts'

const BIG = 'x'.repeat(2_000_000)

describe('the memory tools', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  test.each<[string, Step, RegExp]>([
    [
      'what is there already',
      plan('A', 0),
      /^MemoryToolError: Version 1 of plan already contains what you sent: nothing is left to do\.$/,
    ],
    [
      'a delete of another version',
      use('delete_memory', { key: 'plan', expectedVersion: 7 }),
      /^MemoryToolError: Nothing was changed: plan is at version 1, .* and call delete_memory with expectedVersion 1\.$/,
    ],
    [
      'a change of what was deleted',
      use('write_memory', { key: 'gone', text: 'A', expectedVersion: 1 }),
      /^MemoryToolError: Nothing was changed: gone was deleted at \S+Z\. To create it again, call write_memory with expectedVersion 0\.$/,
    ],
    [
      'a change of what never was',
      use('write_memory', { key: 'never', text: 'A', expectedVersion: 3 }),
      /^MemoryToolError: Nothing was changed: no memory has the key never\. To create it, call write_memory with expectedVersion 0\.$/,
    ],
    [
      'a delete of what never was',
      use('delete_memory', { key: 'never', expectedVersion: 1 }),
      /^MemoryToolError: Nothing was changed: no memory has the key never\.$/,
    ],
    [
      'a key that is none',
      use('write_memory', { key: 'my plan', text: 'A', expectedVersion: 0 }),
      /\/key .*\(invalid_body\)$/,
    ],
    [
      'a version that is missing',
      use('write_memory', { key: 'plan', text: 'B' }),
      /\/expectedVersion .*\(invalid_body\)$/,
    ],
    [
      'a text that is too long',
      use('append_memory', { key: 'plan', text: 'x'.repeat(16_384) }),
      /Go on under plan\.2, which is free, or shorten the text\. \(text_too_large\)$/,
    ],
    ...[
      use('write_memory', { key: 'big', text: BIG, expectedVersion: 0 }),
      use('write_memory', { key: 'big', text: 'x', metadata: { BIG }, expectedVersion: 0 }),
      use('append_memory', { key: 'plan', text: BIG }),
      use('edit_memory', { key: 'plan', old: 'A', new: BIG }),
      use('edit_memory', { key: 'plan', old: BIG, new: 'A' }),
      use('delete_memory', { key: BIG, expectedVersion: 1 }),
      use('read_memory', { key: BIG }),
      use('search_memories', { q: BIG }),
      use('list_memories', { prefix: BIG }),
      use('get_context', { about: BIG }),
    ].map((step): [string, Step, RegExp] => [
      '2 MB',
      step,
      /^MemoryToolError: Nothing was changed: what you sent is too long\. A text has at most 16384 /,
    ]),
    [
      'a version that is no longer kept',
      use('read_memory', { key: 'plan', version: 9 }),
      /\(version_not_found\)$/,
    ],
    ['a budget out of bounds', use('get_context', { bytes: 1 }), /bytes .*\(invalid_query\)$/],
    ['words that are none', use('search_memories', { q: ' ' }), /q .*\(invalid_query\)$/],
    [
      'a list after nothing',
      use('list_memories', { after: 'no key' }),
      /after .*\(invalid_query\)$/,
    ],
  ])('say what is wrong: %s', async (_, step, sentence) => {
    const { home } = await opened.born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    await home.write('gone', 'A', { expectedVersion: 0 })
    await home.delete('gone', { expectedVersion: 1 })
    const { told } = await drive(home, step)
    expect(told).toEqual([{ type: 'error-text', value: expect.stringMatching(sentence) }])
    expect(await home.read('plan')).toMatchObject({ text: 'A', version: 1 })
  })

  test('say of an edit whose answer was lost that it may have been made', async () => {
    const way = await openLossyWay(opened.port)
    const { home } = await opened.born({ url: way.url })
    await home.append('log', 'A')
    way.loseAnswers(1)
    const { told, errors } = await drive(
      home,
      use('edit_memory', { key: 'log', old: 'A', new: 'B' }),
    )
    expect(told[0]?.value).toBe(
      'MemoryToolError: The answer was lost, and the change may have been made. Call read_memory for log, and call edit_memory again only if it was not.',
    )
    expect((errors[0] as Error).cause).toBeInstanceOf(OutcomeUnknown)
    expect(await home.read('log')).toMatchObject({ text: 'B', version: 2 })
    await way.close()
  })
})
