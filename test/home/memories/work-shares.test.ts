/** What costs much is done by client address in turn: a stranger's second agent is no second stranger. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Born, engines, openService, type TestService, write } from '../../harness.ts'

const [STRANGER, OTHER] = ['192.0.2.1', '192.0.2.2']

const AGENTS = 9
const OF_EACH = 8

describe.each(engines)('beside 72 requests of nine agents of one address on $name', (engine) => {
  let service: TestService
  let strangers: readonly Born[]
  let mine: Born
  beforeAll(async () => {
    const unlimited = {
      ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' },
    }
    service = await openService(engine, unlimited)
    strangers = await Promise.all(Array.from({ length: AGENTS }, () => service.birth()))
    mine = await service.birth()
    for (const { token } of [...strangers, mine]) await write(service, token, 'plan', 'Step 1')
  })
  afterAll(() => service.close())

  const contextOf = ({ token }: Born, from: string) =>
    service.call('GET', '/api/agents/me/context', { token, from })

  const contextByMcp = ({ token }: Born, from: string) => {
    const params = { name: 'get_context', arguments: {} }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    return service.call('POST', '/mcp', { token, from, body })
  }

  const batchOf = ({ token }: Born, from: string) => {
    const append = { key: 'log', text: 'x' }
    const body = { operations: Array.from({ length: 20 }, () => ({ append })) }
    return service.call('POST', '/api/agents/me/batch', { token, from, body })
  }

  const rollbackOf = ({ operatorToken: token }: Born, from: string) => {
    const body = { to: 0, dryRun: true }
    return service.call('POST', '/api/agents/me/rollback', { token, from, body })
  }

  test.each([
    ['a rollback', rollbackOf],
    ['a context', contextOf],
    ['a context by tools', contextByMcp],
    ['a batch', batchOf],
  ])('%s of another address waits for few of them', async (_, ask) => {
    const ended: string[] = []
    const asked = async (agent: Born, from: string) => {
      const { status } = await ask(agent, from)
      ended.push(`${status} ${from}`)
    }
    const under = strangers.flatMap((agent) =>
      Array.from({ length: OF_EACH }, () => asked(agent, STRANGER)),
    )
    await asked(mine, OTHER)
    await Promise.all(under)
    expect(ended.filter((each) => each.startsWith('200 '))).toHaveLength(under.length + 1)
    expect(ended.indexOf(`200 ${OTHER}`)).toBeLessThan(under.length / 2)
  })
})
