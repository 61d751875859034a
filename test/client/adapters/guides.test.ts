/** Each adapter's guide, and each example of its sources, does what it shows, on a real home. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { saysIn } from '../examples.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { openScripted } from '../scripted.ts'
import { examplesOf, guideOf, run } from './guide.ts'

/** An answer of the Messages API. */
const said = (content: object, stop_reason: string) => ({
  status: 200,
  body: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5',
    content: [content],
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
})

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(() => opened.close())
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('the guide to', () => {
  test('the memory tool of Anthropic comes true', async () => {
    const { token } = await opened.born()
    const claude = await openScripted()
    const path = '/memories/people/ada.md'
    const input = { command: 'create', path, file_text: 'Likes short answers.' }
    claude.answer(
      said({ type: 'tool_use', id: 'toolu_1', name: 'memory', input }, 'tool_use'),
      said({ type: 'text', text: 'I will.' }, 'end_turn'),
    )
    vi.stubEnv('ANTHROPIC_BASE_URL', claude.url)
    vi.stubEnv('ANTHROPIC_API_KEY', 'none')
    const guide = guideOf('anthropic')
    const printed = await run(guide, { url: opened.url, token })
    expect(printed).toEqual(['I will.', ...saysIn(guide)])
    expect(claude.asked).toHaveLength(2)
    await claude.close()
  })
})

const examples = ['anthropic'].flatMap(examplesOf)

test.each(examples)('the example of $at comes true', async (example) => {
  const { home, token } = await opened.born()
  expect(await run(example, { home, url: opened.url, token })).toEqual(saysIn(example))
})
