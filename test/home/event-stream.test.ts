import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/http/call.ts'
import { engines, incomingOf, openService, type TestService, textOf, write } from '../harness.ts'

const PATH = '/api/agents/me/events/stream'

interface Event {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

const parse = (block: string): Event =>
  Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))

/** Events as they come; leaving the loop closes the stream. */
async function* heard({ status, body }: Answer): AsyncGenerator<Event> {
  if (body === null || typeof body === 'string') throw new Error(`no stream: ${status}`)
  try {
    for await (const piece of body.pieces) {
      yield* piece
        .split('\n\n')
        .map(parse)
        .filter(({ event }) => event)
    }
  } finally {
    body.close()
  }
}

async function take(answer: Answer, count: number): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of heard(answer)) if (events.push(event) === count) break
  return events
}

const namesOf = (events: readonly Event[]): string[] =>
  events.map(({ id, event }) => `${id} ${event}`)

describe.each(engines)('the stream of a home on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { STREAMS_PER_ADDRESS: '4' })
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })

  const open = (token: string, query = '', headers: Record<string, string> = {}) =>
    service.app.serve(incomingOf('GET', `${PATH}${query}`, { token, headers }))

  const control = (method: string, path: string, token: string, body?: unknown) =>
    service.call(method, `/api/agents/me${path}`, { token, body })

  test('what happens is heard as the list has it, and of the own home alone', async () => {
    const { token } = await service.birth()
    const other = await service.birth()
    await write(service, token, 'before', 'text')
    const answer = await open(token)
    expect(answer.headers).toMatchObject({
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
    })
    const hearing = take(answer, 2)
    await write(service, other.token, 'other', 'text')
    await write(service, token, 'a', 'text')
    await write(service, token, 'a', 'more', 1)
    const events = await hearing
    const list = await control('GET', '/events?after=1', token)
    expect(events.map(({ data }) => JSON.parse(data ?? ''))).toEqual(list.body.events)
    expect(namesOf(events)).toEqual(['2 write', '3 write'])
  })

  test('it goes on after the event that was seen last, without loss or repetition', async () => {
    const { token } = await service.birth()
    const seen: Event[] = []
    let last = '0'
    const writing = (async () => {
      for (let n = 0; n < 120; n++) await write(service, token, `k${n}`, 'text')
    })()
    while (seen.length < 120) {
      const events = await take(
        await open(token, '?after=0', { 'last-event-id': last }),
        1 + (seen.length % 7),
      )
      seen.push(...events)
      last = events.at(-1)?.id ?? last
    }
    await writing
    expect(namesOf(seen.slice(0, 120))).toEqual(
      Array.from({ length: 120 }, (_, n) => `${n + 1} write`),
    )
    expect((await take(await open(token, '?after=117'), 3)).map(({ id }) => id)).toEqual([
      '118',
      '119',
      '120',
    ])
  })

  test('what is no id of an event is refused', async () => {
    const { token } = await service.birth()
    const answer = await open(token, '', { 'last-event-id': 'x' })
    expect(JSON.parse(await textOf(answer))).toMatchObject({ code: 'invalid_last_event_id' })
  })

  test('an address holds no more than its share, and gets it back', async () => {
    const { token } = await service.birth()
    const answers = [await open(token), await open(token), await open(token), await open(token)]
    const refused = await open(token)
    expect(refused.status).toBe(503)
    for (const { body } of answers) if (typeof body === 'object') body?.close()
    await write(service, token, 'a', 'text')
    expect(await take(await open(token, '?after=0'), 1)).toHaveLength(1)
  })

  const endings = ['invalid_token', 'agent_paused', 'key_ended', 'key_expired', 'erased'] as const

  test.each(endings)('it ends, and says why: %s', async (ending) => {
    const { token, operatorToken, agentId } = await service.birth()
    const named = await control('POST', '/keys/named', operatorToken, {
      name: 'reader',
      access: 'read',
      prefix: 'a',
      expiresAt: new Date(service.now() + 60_000).toISOString(),
    })
    const { key, token: keyToken } = named.body as { key: { id: string }; token: string }
    const ofKey = ending.startsWith('key')
    const events = heard(await open(ofKey ? keyToken : token, '?after=0'))
    await write(service, token, 'b', 'out of reach')
    await write(service, token, 'a', 'in reach')
    const first = (await events.next()).value
    expect(ofKey ? first?.data : '{}').not.toContain('"b"')
    if (ending === 'invalid_token') await control('POST', '/keys', operatorToken)
    else if (ending === 'agent_paused') {
      await control('PATCH', '', operatorToken, { status: 'paused' })
    } else if (ending === 'key_ended') await control('DELETE', `/keys/${key.id}`, operatorToken)
    else if (ending === 'key_expired') service.tick(61_000)
    else await control('POST', '/erase', operatorToken, { agent_id: agentId })
    const rest = await Array.fromAsync(events)
    const expected = { key_ended: 'invalid_token', erased: 'invalid_token' } as Record<
      string,
      string
    >
    expect(rest.at(-1)?.event).toBe('end')
    expect(JSON.parse(rest.at(-1)?.data ?? '')).toMatchObject({ code: expected[ending] ?? ending })
  })

  test('streams end when the service stops', async () => {
    const stopping = await openService(engine)
    const { token } = await stopping.birth()
    const answer = await stopping.app.serve(incomingOf('GET', PATH, { token }))
    const rest = Array.fromAsync(heard(answer))
    stopping.app.stopAccepting()
    expect(await rest).toEqual([])
    await stopping.close()
  })
})
