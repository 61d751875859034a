/** Each adapter's guide, and each example of its sources, does what it shows, on a real home. */
import { customProvider } from 'ai'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { run, saysIn } from '../examples.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { openScripted } from '../scripted.ts'
import { examplesOf, follow, guideOf } from './guide.ts'
import { scriptedModel, toldIn } from './model.ts'

const CLAUDE = 'anthropic/claude-sonnet-5.5'

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
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
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
    const printed = await follow(guide, { url: opened.url, token })
    expect(printed).toEqual(['I will.', ...saysIn(guide)])
    expect(claude.asked).toHaveLength(2)
    await claude.close()
  })

  test('the tools of the AI SDK comes true', async () => {
    const { token } = await opened.born()
    const text = 'Likes short answers.'
    const write = { key: 'ada', text, expectedVersion: 0, metadata: { pinned: true } }
    const model = scriptedModel(
      [{ tool: 'get_context', input: {} }],
      [{ tool: 'write_memory', input: write }],
    )
    // Where the SDK looks for a model that is named by a string.
    globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { [CLAUDE]: model } })
    const guide = guideOf('ai-sdk')
    expect(await follow(guide, { url: opened.url, token })).toEqual(['Done.', ...saysIn(guide)])
    expect(toldIn(model.doGenerateCalls.at(-1)?.prompt ?? []).map(({ type }) => type)).toEqual([
      'json',
      'json',
    ])
  })
})

const examples = ['ai-sdk', 'anthropic'].flatMap(examplesOf)

test.each(examples)('the example of $at comes true', async (example) => {
  const { home, token } = await opened.born()
  expect(await run(example, { home, url: opened.url, token })).toEqual(saysIn(example))
})
