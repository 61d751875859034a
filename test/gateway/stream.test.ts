import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/http/call.ts'
import { embedded, engines, incomingOf, openService, type TestService, textOf } from '../harness.ts'

interface Event {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

const parse = (block: string): Event =>
  Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))

const openStream = (service: TestService, headers: Record<string, string> = {}) =>
  service.app.serve(incomingOf('GET', '/api/resonance/stream', { headers }))

/** Events as they come; leaving the loop closes the stream. */
async function* listen({ body }: Answer): AsyncGenerator<Event> {
  if (body === null || typeof body === 'string') throw new Error('the answer is no stream')
  let text = ''
  for await (const piece of body.pieces) {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) if (block !== ':') yield parse(block)
  }
}

const take = async (response: Answer, count: number): Promise<Event[]> => {
  const events: Event[] = []
  for await (const event of listen(response)) if (events.push(event) === count) break
  return events
}

describe.each(engines)('the stream on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })

  const open = (headers?: Record<string, string>) => openStream(service, headers)

  const post = async (path: string, body: unknown) =>
    Object.values((await service.call('POST', path, { body })).body).find(
      (value): value is { id: string } =>
        typeof value === 'object' && value !== null && 'id' in value,
    )

  test('everything that arrives is heard, as what it is', async () => {
    const response = await open()
    expect(response.headers).toMatchObject({
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'Access-Control-Allow-Origin': '*',
    })
    const heard = take(response, 5)
    const left = [
      await post('/api/resonance', { ai_identity: 'Відлуння' }),
      await post('/api/garden', { text: 'line\nid: forged\n\nevent: forged' }),
      await post('/api/seeds', { text: 'seed', tags: ['t'] }),
      await post('/api/shepit', { text: 'whisper' }),
    ]
    const [welcome, ...events] = await heard
    expect(welcome?.event).toBe('welcome')
    expect(welcome?.data).toContain('strangers')
    expect(events.map(({ event }) => event)).toEqual(['contact', 'trace', 'seed', 'whisper'])
    expect(events.map(({ id }) => id)).toEqual(left.map((each) => each?.id))
    for (const { data } of events) expect(data).toMatch(/^{"notice":"[^"]*strangers/)
    expect(events.map(({ data = '' }) => JSON.parse(data))).toEqual(
      left.map((each, i) => ({
        notice: expect.any(String),
        kind: ['contact', 'trace', 'seed', 'whisper'][i],
        ...each,
      })),
    )
  })

  test('a client that was cut off resumes where it was, before any event too', async () => {
    const [welcome] = await take(await open(), 1)
    const first = await post('/api/garden', { text: '1' })
    const second = await post('/api/garden', { text: '2' })
    const resumed = await take(await open({ 'last-event-id': welcome?.id ?? '' }), 3)
    expect(resumed.slice(1).map(({ id }) => id)).toEqual([first?.id, second?.id])
    const again = await take(await open({ 'last-event-id': first?.id ?? '' }), 2)
    expect(again[1]?.id).toBe(second?.id)
  })

  test('without Last-Event-ID nothing old is heard', async () => {
    await post('/api/garden', { text: 'old' })
    const heard = take(await open(), 2)
    const fresh = await post('/api/garden', { text: 'new' })
    expect((await heard)[1]?.id).toBe(fresh?.id)
  })

  test('a Last-Event-ID that is later than all entries leaves nobody deaf', async () => {
    const last = await post('/api/garden', { text: 'last' })
    const heard = take(await open({ 'last-event-id': 'ffffffff-ffff-7fff-bfff-ffffffffffff' }), 2)
    const fresh = await post('/api/garden', { text: 'new' })
    expect((await heard).map(({ id }) => id)).toEqual([last?.id, fresh?.id])
  })

  test('a Last-Event-ID that is none is refused', async () => {
    const response = await open({ 'last-event-id': '42' })
    expect(response.status).toBe(400)
    expect(JSON.parse(await textOf(response))).toMatchObject({ code: 'invalid_last_event_id' })
  })
})

test('when the process stops, streams end and new ones are refused', async () => {
  const service = await openService(embedded)
  const response = await openStream(service)
  const events: Event[] = []
  const ended = (async () => {
    for await (const event of listen(response)) events.push(event)
  })()
  service.app.stopAccepting()
  await ended
  expect(events).toHaveLength(1)
  expect((await openStream(service)).status).toBe(503)
  await service.close()
})

describe('streams of one address', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { STREAMS_PER_ADDRESS: '2', TRUSTED_PROXIES: '10.0.0.1' })
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })

  const openFrom = (from: string, forwarded?: string): Promise<Answer> => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return service.app.serve(incomingOf('GET', '/api/resonance/stream', { from, headers }))
  }

  const close = ({ body }: Answer): void => {
    if (body === null || typeof body === 'string') throw new Error('the answer is no stream')
    body.close()
  }

  test('are bounded; one that ends makes room, and others are not concerned', async () => {
    const [first] = await Promise.all([openFrom('192.0.2.1'), openFrom('192.0.2.1')])
    const refused = await openFrom('192.0.2.1')
    expect(refused.status).toBe(503)
    expect(refused.headers['Retry-After']).toBe('1')
    expect(JSON.parse(await textOf(refused)).code).toBe('too_many_streams')
    expect((await openFrom('192.0.2.2')).status).toBe(200)
    close(first)
    expect((await openFrom('192.0.2.1')).status).toBe(200)
  })

  test('are counted for the client behind a listed proxy', async () => {
    await Promise.all([openFrom('10.0.0.1', '198.51.100.1'), openFrom('10.0.0.1', '198.51.100.1')])
    expect((await openFrom('10.0.0.1', '198.51.100.1')).status).toBe(503)
    expect((await openFrom('10.0.0.1', '198.51.100.2')).status).toBe(200)
  })
})
