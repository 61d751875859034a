/** What is done with all memories that match: all of them, said exactly, and taken back exactly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appBeside, ask, engines, inGroups, openService, type TestService } from '../harness.ts'
import { type Operator, openConsole } from './operator.ts'

const UNLIMITED = { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' }

const PER_BATCH = 100

const keysOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, '0')}`)

async function fill(service: TestService, token: string, keys: readonly string[], text = 'x') {
  const starts = Array.from({ length: Math.ceil(keys.length / PER_BATCH) }, (_, n) => n * PER_BATCH)
  await inGroups(starts, async (start) => {
    const some = keys.slice(start, start + PER_BATCH)
    const operations = some.map((key) => ({ write: { key, text, expectedVersion: 0 } }))
    const { status } = await service.call('POST', '/api/agents/me/batch', {
      token,
      body: { operations },
    })
    expect(status).toBe(200)
  })
}

describe.each(engines)('all that match on $name', (engine) => {
  let service: TestService
  let many: Operator
  beforeAll(async () => {
    service = await openService(engine, UNLIMITED)
    many = await openConsole(service)
    await fill(service, many.born.token, keysOf('log.', 1_030), 'a needle')
    await fill(service, many.born.token, ['plan'])
  })
  afterAll(() => service.close())

  const countIn = async (list: string): Promise<unknown> => {
    const { body } = await many.post(`${many.agent}/memories/download`, { all: 'yes', list })
    return body.memoryCount
  }

  test('are all of them, but for a search, which says where it ends', async () => {
    expect([await countIn(''), await countIn('prefix=log.')]).toEqual([1_031, 1_030])
    expect(await countIn('q=needle')).toBe(1_000)
    const { text } = await many.get(`${many.agent}/memories?q=needle`)
    expect(text).toContain('All that match, on every page, up to the 1,000 best</label>')
  })

  test('are found by their keys and versions, without a text', async () => {
    const asked: unknown[] = []
    const app = appBeside(service, {
      listMemories(identity, query) {
        asked.push(query.whole)
        return service.store.listMemories(identity, query)
      },
    })
    const fields = new URLSearchParams({ all: 'yes', list: 'prefix=log.' })
    const { status } = await ask(app, 'POST', `${many.agent}/memories/download`, {
      body: fields.toString(),
      headers: {
        cookie: many.cookie.replace('Cookie: ', ''),
        'content-type': 'application/x-www-form-urlencoded',
      },
    })
    expect([status, new Set(asked), asked.length < 5]).toEqual([200, new Set([false]), true])
  })
})
