/** Conversations of the OpenAI Agents SDK in a home: its own runner, a model that is told what to say. */

import * as sdk from '@openai/agents-core'
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  run,
  setTracingDisabled,
  tool,
  user,
} from '@openai/agents-core'
import { AgentHome, HomeError } from 'agent-home-client'
import { AgentHomeSession } from 'agent-home-client/openai'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { times } from '../../effort.ts'
import { run as runExample, saysIn } from '../examples.ts'
import { type LossyWay, openLossyWay } from '../lossy.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { all, caught } from '../outcome.ts'
import { examplesOf, follow, guideOf } from './guide.ts'
import { calls, says, scriptedModel } from './scripted-model.ts'

setTracingDisabled(true)

describe('a session of the OpenAI Agents SDK', () => {
  let opened: OpenedHome
  let lossy: LossyWay
  beforeAll(async () => {
    opened = await openHome()
    lossy = await openLossyWay(opened.port)
  })
  afterAll(async () => {
    await lossy.close()
    await opened.close()
  })

  async function begin(sessionId = 'chat') {
    const { home } = await opened.born()
    return { home, session: new AgentHomeSession({ home, sessionId }) }
  }

  /** What each message says. */
  const texts = (items: readonly AgentInputItem[]) =>
    items.map((item) => {
      if (!('content' in item) || typeof item.content === 'string') return item
      return item.content.map((part) => ('text' in part ? part.text : '')).join()
    })

  test('the runner goes on where an earlier process stopped', async () => {
    const { home, session } = await begin()
    const model = scriptedModel((input) => says(`${input.length} so far`))
    const agent = new Agent({ name: 'Clerk', model })
    await run(agent, 'My name is Ann.', { session })
    const later = new AgentHomeSession({ home, sessionId: 'chat' })
    const { finalOutput } = await run(agent, 'Who am I?', { session: later })
    expect(finalOutput).toBe('3 so far')
    expect(model.asked[1]).toMatchObject([
      { content: 'My name is Ann.' },
      { content: [{ text: '1 so far' }] },
      { content: 'Who am I?' },
    ])
    expect(await later.getItems()).toHaveLength(4)
    expect(await later.getSessionId()).toBe('chat')
  })

  test('calls of tools and their outputs are kept, also of a streamed run', async () => {
    const { session } = await begin()
    const weather = tool({
      name: 'weather',
      description: 'The weather of a town.',
      parameters: z.object({ town: z.string() }),
      execute: ({ town }) => `rain in ${town}`,
    })
    const model = scriptedModel((input) =>
      input.at(-1)?.type === 'function_call_result'
        ? says('Take a coat.')
        : calls('weather', { town: 'Lviv' }, 'call-1'),
    )
    const agent = new Agent({ name: 'Clerk', model, tools: [weather] })
    const streamed = await run(agent, 'A coat?', { session, stream: true })
    await streamed.completed
    expect((await session.getItems()).map(({ type }) => type)).toEqual([
      'message',
      'function_call',
      'function_call_result',
      'message',
    ])
  })

  test('it does what the SDK’s own does in memory, whatever is done', async () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('ї'.repeat(9_000)))
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.array(text, { maxLength: 4 }).map((add) => ({ add })) },
      { weight: 2, arbitrary: fc.constant({ pop: true }) },
      fc.constant({ clear: true }),
      fc.record({ limit: fc.integer({ min: -1, max: 6 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { session } = await begin('any')
        const reference = new MemorySession()
        for (const each of steps) {
          const done = [session, reference].map(async (one) => {
            if ('add' in each) return one.addItems(each.add.map((said) => user(said)))
            if ('pop' in each) return one.popItem()
            if ('clear' in each) return one.clearSession()
            return one.getItems(each.limit)
          })
          const [ours, theirs] = await Promise.all(done)
          expect(ours).toEqual(theirs)
          expect(await session.getItems()).toEqual(await reference.getItems())
        }
      }),
      { numRuns: times(40) },
    )
  })

  test('two runners at once lose nothing, and keep what belongs together', async () => {
    const { home } = await begin()
    const runners = ['A', 'B'].map((name) => ({
      name,
      session: new AgentHomeSession({ home, sessionId: 'shared' }),
    }))
    const wide = 'x'.repeat(3_000)
    const rounds = Array.from({ length: 15 }, (_, round) => round)
    await Promise.all(
      runners.map(async ({ name, session }) => {
        for (const round of rounds) {
          await session.addItems([
            user(`${name}${round} ask ${wide}`),
            user(`${name}${round} answer`),
          ])
        }
      }),
    )
    const said = texts(await new AgentHomeSession({ home, sessionId: 'shared' }).getItems()).map(
      (content) => String(content).replace(/ x+$/, ''),
    )
    expect(said).toHaveLength(60)
    for (const name of ['A', 'B']) {
      const own = rounds.flatMap((round) => [`${name}${round} ask`, `${name}${round} answer`])
      expect(said.filter((each) => each.startsWith(name))).toEqual(own)
    }
    for (const [at, each] of said.entries()) {
      if (each.endsWith('ask')) expect(said[at + 1]).toBe(each.replace('ask', 'answer'))
    }
  })

  test('an item is taken away by one of two alone', async () => {
    const { session } = await begin()
    await session.addItems(['1', '2', '3', '4'].map((each) => user(each)))
    const popped = await Promise.all([session.popItem(), session.popItem(), session.popItem()])
    expect(texts(popped.flatMap((item) => item ?? [])).toSorted()).toEqual(['2', '3', '4'])
    expect(await session.getItems()).toEqual([user('1')])
  })

  test.each([
    ['short', '1'],
    ['in several memories', 'x'.repeat(40_000)],
  ])('the last item (%s), which somebody else takes away first, is none', async (_, text) => {
    const { token, home } = await opened.born()
    const other = new AgentHomeSession({ home, sessionId: 'chat' })
    let isFirst = true
    const late: typeof fetch = async (...asked) => {
      if (isFirst && asked[1]?.method !== 'GET') {
        isFirst = false
        expect(await other.popItem()).toEqual(user(text))
      }
      return fetch(...asked)
    }
    await other.addItems([user(text)])
    const far = new AgentHome({ url: opened.url, token, fetch: late })
    const session = new AgentHomeSession({ home: far, sessionId: 'chat' })
    expect(await session.popItem()).toBeUndefined()
    expect(isFirst).toBe(false)
  })

  test('an item longer than a memory is spread, and taken away whole', async () => {
    const { home, session } = await begin()
    const long = user('є"\\\n'.repeat(20_000))
    await session.addItems([user('before'), long])
    const sizes = (await all(home.list())).map(({ bytes }) => bytes)
    expect(sizes.length).toBeGreaterThan(6)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16_384)
    expect(await session.getItems(1)).toEqual([long])
    expect(await session.popItem()).toEqual(long)
    expect(await session.getItems()).toEqual([user('before')])
    expect(await session.popItem()).toEqual(user('before'))
    expect(await all(home.list())).toEqual([])
  })

  test.each([
    ['one of several batches, every character escaped', [user('"\n'.repeat(400_000))]],
    [
      'several of 300 KB, and short ones between',
      ['є', 'b', '\u0001'].flatMap((each) => [user(each.repeat(150_000)), user(each)]),
    ],
    [
      '2,500 short ones',
      Array.from({ length: 2_500 }, (_, n) => user(`${n} of many items of one turn`)),
    ],
    [
      'many of 7.5 KB in 2,500 characters',
      Array.from({ length: 180 }, () => user('€'.repeat(2_500))),
    ],
    ['control characters, half a pair, and nothing', [user('\0\u0001\u007f\ud800'), user('')]],
  ])('no item is too much: %s', async (_, items) => {
    const { home, session } = await begin()
    await session.addItems([user('before')])
    await session.addItems(items)
    await session.addItems([user('after')])
    expect(await session.getItems()).toEqual([user('before'), ...items, user('after')])
    expect(await session.popItem()).toEqual(user('after'))
    expect(await session.popItem()).toEqual(items.at(-1))
    expect(await session.getItems()).toEqual([user('before'), ...items.slice(0, -1)])
    await session.clearSession()
    expect(await all(home.list())).toEqual([])
  })

  test('an output of 2 MB whose answers are lost is there once', async () => {
    const { token } = await opened.born()
    const home = new AgentHome({ url: lossy.url, token })
    const session = new AgentHomeSession({ home, sessionId: 'lost' })
    const batch = home.batch.bind(home)
    let sent = 0
    home.batch = (...args) => {
      sent += 1
      if ([2, 6].includes(sent)) lossy.loseAnswers(1)
      return batch(...args)
    }
    const items = [user('x'.repeat(1_000_000)), user('y')]
    await session.addItems(items)
    expect(await session.getItems()).toEqual(items)
  })

  test('bytes come back as bytes', async () => {
    const { home, session } = await begin()
    const image = Buffer.from([0, 255, 7])
    const item = { ...user('look'), providerData: { image, count: 7n } }
    await session.addItems([item])
    const [found] = await session.getItems()
    expect(found?.providerData?.count).toBe('7')
    expect(found?.providerData?.image).toEqual(new Uint8Array(image))
    // What earlier versions kept, later ones read.
    const kept = await home.read('session.chat.000001')
    expect(kept?.text).toContain('"image":{"agent-home:bytes":"AP8H"}')
  })

  test('an answer that was lost adds nothing twice', async () => {
    const { token } = await opened.born()
    const home = new AgentHome({ url: lossy.url, token })
    const session = new AgentHomeSession({ home, sessionId: 'lost' })
    await session.addItems([user('1')])
    await caught(home.read('warm'))
    const add = session.addItems.bind(session)
    const held = home.batch.bind(home)
    home.batch = (...args) => {
      home.batch = held
      lossy.loseAnswers(1)
      return held(...args)
    }
    await add([user('2')])
    expect(await session.getItems()).toEqual([user('1'), user('2')])
  })

  test('a session whose clearing was not answered is empty', async () => {
    const { token } = await opened.born()
    const home = new AgentHome({ url: lossy.url, token })
    const session = new AgentHomeSession({ home, sessionId: 'lost' })
    await session.addItems([user('1'), user('2')])
    const batch = home.batch.bind(home)
    home.batch = (...args) => {
      home.batch = batch
      lossy.loseAnswers(1)
      return batch(...args)
    }
    await session.clearSession()
    expect(await session.getItems()).toEqual([])
  })

  test('any id is a session of its own, and is said in the home', async () => {
    const { home } = await begin()
    const ids = ['a', 'a.b', 'розмова 1', 'x'.repeat(300), 'A', 'twenty-two-characters1']
    for (const sessionId of ['x'.repeat(5_000), 'a\0b', 'half \ud800', '😀'.repeat(2_000)]) {
      const session = new AgentHomeSession({ home, sessionId, prefix: 'odd' })
      await session.addItems([user('1')])
      expect(await session.getItems()).toEqual([user('1')])
    }
    for (const sessionId of ids) {
      await new AgentHomeSession({ home, sessionId }).addItems([user(sessionId)])
    }
    for (const sessionId of ids) {
      const session = new AgentHomeSession({ home, sessionId })
      expect(await session.getItems()).toEqual([user(sessionId)])
    }
    const listed = await all(home.list({ prefix: 'session.' }))
    expect(listed.map(({ metadata }) => metadata.session_id).toSorted()).toEqual(ids.toSorted())
    expect(listed.map(({ key }) => key)).toContain('session.a.000001')
  })

  test('what the home refuses is thrown as it is', async () => {
    const { home, operator } = await opened.born()
    const session = new AgentHomeSession({ home, sessionId: 'paused' })
    await operator.pause()
    expect(await caught(session.addItems([user('1')]))).toBeInstanceOf(HomeError)
    expect(() => new AgentHomeSession({ home, sessionId: '' })).toThrow(TypeError)
    expect(() => new AgentHomeSession({ home, sessionId: 'a', prefix: 'a.b' })).toThrow(TypeError)
  })

  test('the guide comes true', async () => {
    const { token } = await opened.born()
    const guide = guideOf('openai')
    const model = scriptedModel((input) => says(input.length > 1 ? 'You are Ann.' : 'Hello, Ann.'))
    // Whom the SDK asks where an agent names no model.
    sdk.setDefaultModelProvider({ getModel: () => model })
    const printed = await follow(guide, { url: opened.url, token }, { '@openai/agents': sdk })
    expect(printed.length).toBeGreaterThan(1)
    expect(printed).toEqual(saysIn(guide))
  })

  test('so does the example of its source', async () => {
    const { home, session } = await begin('support-4711')
    const agent = new Agent({ name: 'Clerk', model: scriptedModel(() => says('Hello, Ann.')) })
    const given = { home, agent, run, AgentHomeSession }
    for (const example of examplesOf('openai')) await runExample(example, given)
    expect(await session.getItems()).toHaveLength(2)
  })
})
