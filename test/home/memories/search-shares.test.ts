/** Searches are shared by client address: a stranger's second agent is not a second stranger. */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  appBeside,
  ask,
  type Born,
  embedded,
  engines,
  openService,
  type TestService,
  write,
} from '../../harness.ts'
import { manualTimers } from '../../manual-timers.ts'

const [STRANGER, OTHER] = ['192.0.2.1', '192.0.2.2']

/** More agents than one address may be answered for before another is. */
const AGENTS = 36
const OF_EACH = 2

describe.each(engines)('searches of many agents of one address on $name', (engine) => {
  let service: TestService
  let strangers: readonly Born[]
  let mine: Born
  beforeAll(async () => {
    service = await openService(engine, { READS_PER_MINUTE: '0' })
    strangers = await Promise.all(Array.from({ length: AGENTS }, () => service.birth()))
    mine = await service.birth()
    for (const { token } of [...strangers, mine]) await write(service, token, 'plan', 'Step 1')
  })
  afterAll(() => service.close())

  const search = ({ token }: Born, from: string) =>
    service.call('GET', '/api/agents/me/memories/search?q=step', { token, from })

  const searchByMcp = ({ token }: Born, from: string) => {
    const params = { name: 'search_memories', arguments: { q: 'step' } }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return service.call('POST', '/mcp', { token, from, body })
  }

  const contextAbout = ({ token }: Born, from: string) =>
    service.call('GET', '/api/agents/me/context?about=step', { token, from })

  const many = (ask: typeof search) =>
    strangers.flatMap((agent) => Array.from({ length: OF_EACH }, () => ask(agent, STRANGER)))

  test.each([
    ['the interface', search],
    ['tools', searchByMcp],
    ['contexts about a task', contextAbout],
  ])('by %s keep nobody else from theirs', async (_, ask) => {
    /** How many were answered before mine, at best: chance decides who is first of what is sent at once. */
    let least = Infinity
    for (let tries = 0; tries < 12 && least >= AGENTS / 2; tries++) {
      let before = 0
      const under = many(ask).map((asked) => asked.then(() => before++))
      const found = await search(mine, OTHER)
      expect([found.status, found.text]).toEqual([200, expect.stringContaining('"plan"')])
      const answered = before
      await Promise.all(under)
      least = Math.min(least, answered)
    }
    expect(least).toBeLessThan(AGENTS / 2)
  })
})

test('a search that waited for half a minute is refused, and never runs', async () => {
  const service = await openService(embedded)
  const { token } = await service.birth()
  const begun: (() => void)[] = []
  const { searchMemories } = service.store
  const { timers, pass, waits } = manualTimers()
  const app = appBeside(
    service,
    {
      searchMemories: (...asked) =>
        new Promise<void>((begin) => begun.push(begin)).then(() => searchMemories(...asked)),
    },
    { timers },
  )
  const search = (from: string) =>
    ask(app, 'GET', '/api/agents/me/memories/search?q=x', { token, from })
  const running = [1, 2, 3, 4].map((n) => search(`192.0.2.${n}`))
  while (begun.length < running.length) await turnOfTheLoop()

  const waiting = search('192.0.2.5')
  while (!waits().includes(30_000)) await turnOfTheLoop()
  pass(30_000)
  const { status, body } = await waiting
  expect([status, body.code]).toEqual([503, 'overloaded'])
  for (const begin of begun.splice(0)) begin()
  expect((await Promise.all(running)).map((each) => each.status)).toEqual([200, 200, 200, 200])
  expect(begun).toEqual([])
  await service.close()
})
