/** What an agent asks for through MCP is counted as what it is, as over HTTP. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { dayOf } from '../../src/store/port/activity.ts'
import { type Born, embedded, openService, type TestService, write } from '../harness.ts'
import { openConsole } from '../web/operator.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

const about = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })

const saved = { key: 'new', text: 'x', expectedVersion: 0 }

const NONE = { reads: 0, writes: 0, conflicts: 0, refusals: 0 }

async function today({ operatorToken }: Born): Promise<unknown> {
  const identity = await service.store.identify(hashToken(operatorToken))
  if (!identity) throw new Error('nobody')
  const seen = await service.store.readActivity(identity, dayOf(service.now()))
  if (seen.outcome !== 'activity') throw new Error(seen.outcome)
  return { ...NONE, ...seen.days[0] }
}

test.each([
  ['a tool that reads', toolCall('read_memory', { key: 'k' }), { reads: 1 }],
  ['one that finds nothing', toolCall('read_memory', { key: 'none' }), { reads: 1 }],
  ['a search', toolCall('search_memories', { q: 'one' }), { reads: 1 }],
  ['a resource', about('resources/read', { uri: 'memory:///k' }), { reads: 1 }],
  ['a list of resources', about('resources/list'), { reads: 1 }],
  ['a tool that writes, which the store counts', toolCall('write_memory', saved), { writes: 1 }],
  [
    'a write that came too late',
    toolCall('write_memory', { ...saved, key: 'k', expectedVersion: 9 }),
    { conflicts: 1 },
  ],
  ['what does not fit', toolCall('write_memory', { key: 'no key' }), { refusals: 1 }],
  ['a message that is none', about('tools/call', { name: 7 }), {}],
  ['what is about the protocol alone', about('tools/list'), {}],
])('%s', async (_, body, counts) => {
  const { born, get } = await openConsole(service)
  await write(service, born.operatorToken, 'k', 'one')
  await post(service, { token: born.token, body })
  // What was counted is written down before anybody looks.
  await get('/console')
  const { writes = 0, ...others }: Partial<typeof NONE> = counts
  const day = dayOf(service.now())
  expect(await today(born)).toEqual({ ...NONE, ...others, day, writes: writes + 1 })
})

test('a paused agent’s call is refused, whatever the answer’s status is', async () => {
  const { born, agent, get, post: send } = await openConsole(service)
  await send(`${agent}/status`, { status: 'paused' })
  await post(service, { token: born.token, body: toolCall('read_memory', { key: 'k' }) })
  await get('/console')
  expect(await today(born)).toMatchObject({ ...NONE, refusals: 1 })
})
