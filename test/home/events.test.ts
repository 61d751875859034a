/** The list of events as it is asked for: its parameters, and what is said of wrong ones. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Born, engines, openService, type TestService, write } from '../harness.ts'

const EVENTS = '/api/agents/me/events'

interface Shown {
  readonly id: number
  readonly key?: string
  readonly from?: string
}

describe.each(engines)('events on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine)
    born = await service.birth()
    for (const key of ['a', 'b', 'c']) {
      await write(service, born.token, key, 'x')
      service.tick(1_000)
    }
  })
  afterAll(() => service.close())

  const ask = (query: string, token = born.token) =>
    service.call('GET', `${EVENTS}?${query}`, { token })

  async function idsOf(query: string, token?: string) {
    const { body } = await ask(query, token)
    return { ids: (body.events as Shown[]).map(({ id }) => id), next: body.next }
  }

  test('are filtered, in either order, and go on where they stopped', async () => {
    expect(await idsOf('order=newest&limit=2')).toEqual({ ids: [3, 2], next: 2 })
    expect(await idsOf('order=newest&limit=2&after=2')).toEqual({ ids: [1], next: null })
    expect(await idsOf('key=b')).toEqual({ ids: [2], next: null })
    expect(await idsOf('by=operator')).toEqual({ ids: [], next: null })
    const since = new Date(service.now() - 1_500).toISOString()
    expect(await idsOf(`since=${since}`)).toEqual({ ids: [3], next: null })
  })

  test('of a rename show a key with a prefix the name that it reaches', async () => {
    const named = await service.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'in', access: 'read', prefix: 'in.' },
    })
    const token = String(named.body.token)
    const rename = { from: 'c', to: 'in.c', expectedVersion: 1 }
    const body = { operations: [{ rename }] }
    await service.call('POST', '/api/agents/me/batch', { token: born.token, body })
    const { body: seen } = await ask('order=newest', token)
    expect(seen.events).toMatchObject([{ type: 'rename', key: 'in.c' }])
    expect((seen.events as Shown[])[0]).not.toHaveProperty('from')
    expect(await ask('key=c', token)).toMatchObject({ status: 403 })
  })

  test('of a key with a prefix go on behind more that it does not see than one look reads', async () => {
    const { token, operatorToken } = await service.birth()
    const named = await service.call('POST', '/api/agents/me/keys/named', {
      ...{ token: operatorToken, body: { name: 'in', access: 'read', prefix: 'in.' } },
    })
    await write(service, token, 'in.a', 'x')
    const operations = Array.from({ length: 50 }, () => ({ append: { key: 'log', text: '.' } }))
    for (let batches = 0; batches < 22; batches++) {
      const { status } = await service.call('POST', '/api/agents/me/batch', {
        ...{ token, body: { operations } },
      })
      expect(status).toBe(200)
    }
    await write(service, token, 'in.b', 'x')
    const reader = String(named.body.token)
    expect(await idsOf('', reader)).toEqual({ ids: [2], next: 1_000 })
    expect(await idsOf('after=1000', reader)).toEqual({ ids: [1_103], next: null })
  })

  test.each([
    ['since=yesterday', '?since', 'must be a time: 2026-11-21T22:00:00Z'],
    ['by=Atlas', '?by', 'must be agent, operator, or the id of a named key'],
    ['key=a&prefix=b', '?prefix', 'cannot be combined with key'],
  ])('%s is refused', async (query, pointer, message) => {
    expect(await ask(query)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer, message }] },
    })
  })

  test('where since means nothing, the list that knows it is named', async () => {
    for (const path of ['memories', 'memories/search']) {
      const url = `/api/agents/me/${path}?q=x&since=2026-11-21T10:00:00Z`
      const { body } = await service.call('GET', url, { token: born.token })
      expect(JSON.stringify(body.errors)).toContain('GET /api/agents/me/events?since=')
    }
  })
})
