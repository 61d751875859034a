import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/http/call.ts'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Store } from '../../src/store/port/store.ts'
import {
  appBeside,
  ask,
  embedded,
  engines,
  incomingOf,
  openService,
  type TestService,
  textOf,
  write,
} from '../harness.ts'

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
  /** Where hardly anything may be read. */
  let poor: TestService
  beforeAll(async () => {
    const env = { STREAMS_PER_ADDRESS: '4', WRITES_PER_MINUTE: '0', MEMORIES_PER_AGENT: '0' }
    service = await openService(engine, env)
    poor = await openService(engine, { ...env, READS_PER_MINUTE: '2' })
  })
  afterAll(async () => {
    for (const each of [service, poor]) {
      each.app.stopAccepting()
      await each.close()
    }
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

  async function fill(token: string, count: number, home = service) {
    for (let at = 0; at < count; at += 100) {
      const operations = Array.from({ length: 100 }, (_, n) => ({
        write: { key: `k${at + n}`, text: 'x', expectedVersion: 0 },
      }))
      const body = { operations }
      expect((await home.call('POST', '/api/agents/me/batch', { token, body })).status).toBe(200)
    }
  }

  const readsLeft = async (token: string): Promise<number> => {
    const { headers } = await control('GET', '/events?after=0&limit=1', token)
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
  }

  test('after an id that the home does not have it says so, and goes on from now', async () => {
    const { token } = await service.birth()
    await write(service, token, 'a', 'text')
    await write(service, token, 'b', 'text')
    const hearing = take(await open(token, '', { 'last-event-id': '900' }), 3)
    await write(service, token, 'c', 'text')
    await write(service, token, 'd', 'text')
    const events = await hearing
    expect(namesOf(events)).toEqual(['2 missed', '3 write', '4 write'])
    expect(JSON.parse(events[0]?.data ?? '')).toEqual({ after: 900, first: 3 })
    const { body } = await control('GET', '/events?after=900', token)
    const previous = { id: 4, hash: expect.any(String) }
    const missed = { after: 900, first: 5 }
    expect(body).toEqual({ events: [], next: 4, previous, missed })
    expect((await control('GET', '/events?after=4', token)).body).toEqual({
      ...{ events: [], next: null, previous },
    })
  })

  test('what the log no longer holds is told of in a page too', async () => {
    const few = await openService(engine, { EVENTS_PER_AGENT: '10' })
    const { token } = await few.birth()
    for (let n = 0; n < 64; n++) await write(few, token, `k${n}`, 'text')
    const page = async (after: number) =>
      (await few.call('GET', `/api/agents/me/events?limit=1&after=${after}`, { token })).body
    expect(await page(0)).toMatchObject({ events: [{ id: 55 }], missed: { after: 0, first: 55 } })
    expect(await page(53)).toHaveProperty('missed')
    expect(await page(54)).not.toHaveProperty('missed')
    await few.close()
  })

  test('from now on, a key with a prefix is told of nothing that was missed before', async () => {
    const few = await openService(engine, { EVENTS_PER_AGENT: '10' })
    const { token, operatorToken } = await few.birth()
    await write(few, token, 'in.before', 'text')
    for (let n = 0; n < 64; n++) await write(few, token, `k${n}`, 'text')
    const { body } = await few.call('POST', '/api/agents/me/keys/named', {
      token: operatorToken,
      body: { name: 'reader', access: 'read', prefix: 'in.' },
    })
    const reader = String(body.token)
    const openAfter = (headers: Record<string, string>) =>
      few.app.serve(incomingOf('GET', PATH, { token: reader, headers }))
    const fromNow = take(await openAfter({}), 1)
    const ahead = take(await openAfter({ 'last-event-id': '900' }), 2)
    const behind = take(await openAfter({ 'last-event-id': '1' }), 2)
    await write(few, token, 'in.after', 'text')
    const written = expect.stringMatching(/^\d+ write$/)
    expect(namesOf(await fromNow)).toEqual([written])
    expect(namesOf(await ahead)).toEqual(['0 missed', written])
    expect(namesOf(await behind)).toEqual([expect.stringMatching(/ missed$/), written])
    few.app.stopAccepting()
    await few.close()
  })

  test('what is looked at is paid for: a read for each thousand events', async () => {
    const { token, operatorToken } = await service.birth()
    await fill(token, 2_400)
    const named = { name: 'reader', access: 'read', prefix: 'a' }
    const { body } = await control('POST', '/keys/named', operatorToken, named)
    const cost = async (work: () => Promise<unknown>) => {
      const before = await readsLeft(token)
      await work()
      return before - (await readsLeft(token)) - 1
    }
    const look = () => control('GET', '/events', String(body.token))
    expect(await cost(look)).toBeGreaterThanOrEqual(3)
    expect(await cost(look)).toBe(1)
    const follow = async () => take(await open(token, '?after=0'), 2_400)
    expect(await cost(follow)).toBe(3)
  })

  test('a stream ends where there is no read left for what it looks at', async () => {
    const { token } = await poor.birth()
    await fill(token, 3_000, poor)
    const answer = await poor.app.serve(incomingOf('GET', `${PATH}?after=0`, { token }))
    const events = await Array.fromAsync(heard(answer))
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ code: 'rate_limited' })
    expect(events.at(-2)?.id).toBe('1900')
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

  /** The app on a store that answers so about events. */
  const openApp = (eventsAfter: Store['eventsAfter']) => appBeside(service, { eventsAfter })

  /** Only where it is told to. */
  const answering = (answers: () => boolean) =>
    openApp((...asked) =>
      answers()
        ? service.store.eventsAfter(...asked)
        : Promise.reject(new StoreUnavailable('gone')),
    )

  test('a store that does not answer for a while leaves it open, and nothing is lost', async () => {
    const { token } = await service.birth()
    let answers = true
    const app = answering(() => answers)
    const events = heard(await app.serve(incomingOf('GET', `${PATH}?after=0`, { token })))
    await write(service, token, 'a', 'text')
    expect((await events.next()).value).toMatchObject({ id: '1', event: 'write' })
    const next = events.next()
    answers = false
    await ask(app, 'POST', '/api/agents/me/memory', {
      token,
      body: { key: 'b', text: 'text', expectedVersion: 0 },
    })
    answers = true
    expect((await next).value).toMatchObject({ id: '2', event: 'write' })
    app.stopAccepting()
    expect((await events.next()).done).toBe(true)
  })

  test('between two pages too, though nothing happens then that would wake it', async () => {
    const { token } = await service.birth()
    await fill(token, 300)
    let asked = 0
    // The first two are what it begins with, and its first page.
    const app = answering(() => ++asked !== 3)
    const events = await take(await app.serve(incomingOf('GET', `${PATH}?after=0`, { token })), 300)
    expect(events.map(({ id }) => Number(id))).toEqual(Array.from({ length: 300 }, (_, n) => n + 1))
    expect(asked).toBeGreaterThan(4)
    app.stopAccepting()
  })

  test('what it looks at is sent once it could be paid for', async () => {
    const { token } = await service.birth()
    await fill(token, 1_200)
    const asked: string[] = []
    const app = appBeside(service, {
      async leasePermits({ name, quota, windowMs }, _, wanted) {
        // One at a time: what it begins with, then the thousandth event.
        if (asked.push(`${name} ${wanted}`) === 2) throw new OutcomeUnknown('gone')
        return { granted: 1, unleased: quota, endsInMs: windowMs }
      },
    })
    const events = await take(
      await app.serve(incomingOf('GET', `${PATH}?after=0`, { token })),
      1_200,
    )
    expect(events.map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 1_200 }, (_, n) => n + 1),
    )
    expect(new Set(asked)).toEqual(new Set(['reads 300']))
    expect(asked).toHaveLength(3)
    app.stopAccepting()
  })

  test('where an older log takes the place of its own it says so once, and goes on with that', async () => {
    const { token } = await service.birth()
    const { token: olderToken } = await service.birth()
    const older = await service.store.identify(hashToken(olderToken))
    if (!older) throw new Error('the token is void')
    let isRestored = false
    const app = openApp((identity, ...asked) =>
      service.store.eventsAfter(isRestored ? older : identity, ...asked),
    )
    for (const key of ['a', 'b', 'c']) await write(service, token, key, 'text')
    await write(service, olderToken, 'a', 'text')
    const events = heard(await app.serve(incomingOf('GET', `${PATH}?after=0`, { token })))
    const told: Event[] = []
    const hear = async () => told.push((await events.next()).value ?? {})
    for (let n = 0; n < 3; n++) await hear()
    isRestored = true
    const wake = (key: string) =>
      ask(app, 'POST', '/api/agents/me/memory', {
        token,
        body: { key, text: 'text', expectedVersion: 0 },
      })
    await wake('d')
    await hear()
    await write(service, olderToken, 'b', 'text')
    await wake('e')
    await hear()
    expect(namesOf(told).slice(3)).toEqual(['1 missed', '2 write'])
    app.stopAccepting()
    expect((await events.next()).done).toBe(true)
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

test('behind a proxy that is trusted each address has a share of its own', async () => {
  const env = { STREAMS_PER_ADDRESS: '1', TRUSTED_PROXIES: '10.0.0.1' }
  const service = await openService(embedded, env)
  const { token } = await service.birth()
  const statuses: number[] = []
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    const headers = { 'x-forwarded-for': address }
    const asked = incomingOf('GET', PATH, { token, from: '10.0.0.1', headers })
    statuses.push((await service.app.serve(asked)).status)
  }
  expect(statuses).toEqual([200, 503, 200])
  service.app.stopAccepting()
  await service.close()
})
