import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { homeEndpoints } from '../../src/home/index.ts'
import {
  type Answer,
  appBeside,
  ask,
  birthBody,
  type CallOptions,
  type Engine,
  embedded,
  engines,
  freshKey,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'

const everythingOff = {
  MEMORIES_PER_AGENT: '0',
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  EXPORTS_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  BIRTHS_PER_HOUR: '0',
  FAILURES_PER_MINUTE: '0',
}

/** A budget, how often it lets in, and the requests that draw on it. */
const budgets = [
  ['reads', 3, ['GET /api/agents/me', 'GET /api/agents/me/memory?key=a']],
  ['writes', 4, ['POST /api/agents/me/memory']],
  ['exports', 5, ['GET /api/agents/me/export']],
  ['controls', 6, ['PATCH /api/agents/me', 'POST /api/agents/me/keys']],
] as const

const spare = {
  ...everythingOff,
  ...Object.fromEntries(
    budgets.map(([name, most]) => [`${name.toUpperCase()}_PER_MINUTE`, `${most}`]),
  ),
  FAILURES_PER_MINUTE: '3',
}

const bodies: Readonly<Record<string, unknown>> = {
  'POST /api/agents/me/memory': { key: 'a', text: 'x', expectedVersion: 0 },
  'PATCH /api/agents/me': { status: 'active' },
}

const seconds = (answer: Answer): number => Number(answer.headers.get('retry-after'))

const open: TestService[] = []

const openOn = async (engine: Engine, env?: Record<string, string>) => {
  const service = await openService(engine, env)
  open.push(service)
  return service
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
})

const bear = (service: Pick<TestService, 'call'>, options: CallOptions = {}) =>
  service.call('POST', '/api/agents/birth', {
    ...options,
    headers: { 'idempotency-key': freshKey(), ...options.headers },
    body: birthBody,
  })

describe.each(engines)('limits on $name', (engine) => {
  const services = (env?: Record<string, string>) => openOn(engine, env)

  /** Every agent and every client has budgets of its own. */
  let sparing: TestService
  beforeAll(async () => {
    sparing = await openService(engine, spare)
  })
  afterAll(() => sparing.close())

  test.each(budgets)(
    'the budget of %s is shown as it is spent, and over it comes 429',
    proves(
      'limits.429',
      'errors.profile.429',
      'errors.export.429',
      'errors.status.429',
      'errors.keys.429',
      'errors.memory-read.429',
      'errors.memory-write.429',
    ),
    async (name, most, requests) => {
      const [mine, other] = [await sparing.birth(), await sparing.birth()]
      const send = (request: string, token: string) => {
        const [method = '', path = ''] = request.split(' ')
        return sparing.call(method, path, { token, body: bodies[request] })
      }
      const [first] = requests
      for (let left = most - 1; left >= 0; left--) {
        const { status, headers } = await send(first, mine.operatorToken)
        expect(status).not.toBe(429)
        expect(headers.get('ratelimit-policy')).toBe(`"${name}";q=${most};w=60`)
        expect(headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=${left};t=\\d+$`))
      }
      for (const request of requests) {
        const refused = await send(request, mine.operatorToken)
        expectProblem(refused, 'rate_limited')
        expect(seconds(refused)).toBeLessThanOrEqual(60)
        expect(refused.headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=0;t=\\d+$`))
      }
      expect((await send(first, other.operatorToken)).status).not.toBe(429)
      for (const [, , others] of budgets.filter(([another]) => another !== name)) {
        for (const request of others) {
          expect((await send(request, mine.operatorToken)).status).not.toBe(429)
        }
      }
    },
  )

  test('an agent and its operator each have a budget, and what is refused costs nothing', async () => {
    const { token, operatorToken } = await sparing.birth()
    const from = '192.0.2.9'
    const read = (as: string) => sparing.call('GET', '/api/agents/me', { token: as, from })
    expect((await read(token)).headers.get('ratelimit')).toContain('r=2')
    for (let n = 0; n < 3; n++) await read('aha_nonsense')
    expect((await read(operatorToken)).headers.get('ratelimit')).toContain('r=2')
    for (const left of [1, 0]) {
      expect((await read(token)).headers.get('ratelimit')).toContain(`r=${left}`)
    }
    expectProblem(await read(token), 'rate_limited')
    for (const left of [1, 0]) {
      expect((await read(operatorToken)).headers.get('ratelimit')).toContain(`r=${left}`)
    }
    expectProblem(await read(operatorToken), 'rate_limited')
  })

  test(
    'over its quota of memories an agent creates none until it deletes one, and still updates',
    proves('limits.429', 'errors.memory-write.429'),
    async () => {
      const service = await services({ ...everythingOff, MEMORIES_PER_AGENT: '2' })
      const { token } = await service.birth()
      await write(service, token, 'a', 'x')
      await write(service, token, 'b', 'x')
      const refused = await write(service, token, 'c', 'x')
      expectProblem(refused, 'memory_quota_reached')
      // Waiting frees no room.
      expect(refused.headers.has('retry-after')).toBe(false)
      expect((await service.call('GET', `${memoryPath}?key=c`, { token })).status).toBe(404)
      expect((await write(service, token, 'a', 'y', 1)).status).toBe(200)
      await service.call('DELETE', `${memoryPath}?key=b&expectedVersion=1`, { token })
      expect((await write(service, token, 'c', 'x')).status).toBe(200)
      const { token: other } = await service.birth()
      expect((await write(service, other, 'c', 'x')).status).toBe(200)
    },
  )

  test(
    'births of one address are limited, shown, and free again when the oldest is an hour old',
    proves('errors.birth.429', 'limits.429'),
    async () => {
      const service = await services({ BIRTHS_PER_HOUR_PER_ADDRESS: '2' })
      const first = await bear(service)
      expect(first.headers.get('ratelimit-policy')).toBe('"births";q=2;w=3600')
      expect(first.headers.get('ratelimit')).toMatch(/^"births";r=1;t=3600$/)
      service.tick(600_000)
      expect((await bear(service)).headers.get('ratelimit')).toMatch(/^"births";r=0;t=\d+$/)
      const { agents } = await service.store.status()
      const refused = await bear(service)
      expectProblem(refused, 'rate_limited')
      expect(seconds(refused)).toBeGreaterThan(2_900)
      expect(seconds(refused)).toBeLessThanOrEqual(3_000)
      expect((await service.store.status()).agents).toBe(agents)
      expect((await bear(service, { from: '192.0.2.2' })).status).toBe(201)
      service.tick(3_000_000)
      expect((await bear(service)).status).toBe(201)
      expect((await bear(service)).status).toBe(429)
    },
  )

  test('births of one /48 are limited, whatever address in it they come from', async () => {
    const service = await services({ BIRTHS_PER_HOUR_PER_ADDRESS: '1' })
    const from = (subnet: number, site = 1) => ({ from: `2001:db8:${site}:${subnet}::1` })
    for (let n = 1; n <= 5; n++) expect((await bear(service, from(n))).status).toBe(201)
    const refused = await bear(service, from(6))
    expectProblem(refused, 'rate_limited')
    expect(refused.headers.get('ratelimit-policy')).toBe('"births-per-network";q=5;w=3600')
    expect((await bear(service, from(6, 2))).status).toBe(201)
    expect((await bear(service, from(6, 10))).status).toBe(201)
  })

  describe('this machine’s own programs', () => {
    const policyFor = async (set: Record<string, string>, how: CallOptions) => {
      const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '2', ...set }
      const app = appBeside(sparing, {}, {}, env)
      return (await bear({ call: (...asked) => ask(app, ...asked) }, how)).headers.get(
        'ratelimit-policy',
      )
    }

    test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])(
      'have a hundred times as many births (%s)',
      async (from) => {
        expect(await policyFor({}, { from })).toBe('"births-on-loopback";q=200;w=3600')
      },
    )

    test.each<[string, Record<string, string>, CallOptions]>([
      ['what a proxy forwarded', {}, { headers: { 'x-forwarded-for': '127.0.0.1' } }],
      ['what a proxy marked', {}, { headers: { via: '1.1 proxy' } }],
      ['a trusted proxy', { TRUSTED_PROXIES: '127.0.0.1' }, {}],
      ['a service with a public address', { PUBLIC_URL: 'https://home.example' }, {}],
      ['a service of a local network', { PUBLIC_URL: 'http://home.lan' }, {}],
    ])('are not %s', async (_, set, how) => {
      expect(await policyFor(set, { from: '127.0.0.1', ...how })).toMatch(/;q=2;w=3600$/)
    })
  })

  test('births are limited in all, whatever the address', async () => {
    const service = await services({ BIRTHS_PER_HOUR: '2' })
    expect((await bear(service, { from: '192.0.2.1' })).status).toBe(201)
    expect((await bear(service, { from: '192.0.2.2' })).status).toBe(201)
    const refused = await bear(service, { from: '192.0.2.3' })
    expectProblem(refused, 'rate_limited')
    expect(refused.headers.get('ratelimit-policy')).toBe('"births-in-all";q=2;w=3600')
  })

  test('the limits of births hold through a restart', async () => {
    const database = await engine.fresh()
    const kept = { ...engine, fresh: async () => ({ ...database, drop: async () => undefined }) }
    const env = { BIRTHS_PER_HOUR_PER_ADDRESS: '2', BIRTHS_PER_HOUR: '3' }
    const before = await openService(kept, env)
    expect((await bear(before)).status).toBe(201)
    expect((await bear(before)).status).toBe(201)
    await before.close()
    const after = await openService(kept, env)
    expectProblem(await bear(after), 'rate_limited')
    expect((await bear(after, { from: '192.0.2.2' })).status).toBe(201)
    expectProblem(await bear(after, { from: '192.0.2.3' }), 'rate_limited')
    await after.close()
    await database.drop()
  })

  test('births at once never exceed the limit', async () => {
    const service = await services({ BIRTHS_PER_HOUR_PER_ADDRESS: '5' })
    const answers = await Promise.all(Array.from({ length: 32 }, () => bear(service)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(27)
    for (const answer of refused) {
      expect(seconds(answer)).toBeGreaterThan(3_500)
      expect(answer.headers.get('ratelimit')).toMatch(/^"births";r=0;t=\d+$/)
    }
  })

  test('failed authentications of one client stop that client alone', async () => {
    const { token } = await sparing.birth()
    const guess = (from: string) => sparing.call('GET', '/api/agents/me', { token: 'aha_x', from })
    for (let n = 0; n < 3; n++) expectProblem(await guess('192.0.2.1'), 'invalid_token')
    const refused = await guess('192.0.2.1')
    expectProblem(refused, 'too_many_failures')
    expect(seconds(refused)).toBeLessThanOrEqual(60)
    expect(refused.headers.get('ratelimit')).toMatch(/^"failures";r=0;t=\d+$/)
    expectProblem(await guess('192.0.2.2'), 'invalid_token')
    const right = await sparing.call('GET', '/api/agents/me', { token, from: '192.0.2.1' })
    expect(right.status).toBe(200)
  })
})

describe('what draws on which limit', () => {
  const services = (env?: Record<string, string>) => openOn(embedded, env)

  test('an agent cannot use up its operator’s control budget', async () => {
    const service = await services({ ...everythingOff, CONTROLS_PER_MINUTE: '1' })
    const { token, operatorToken } = await service.birth()
    const rotate = (as: string) => service.call('POST', '/api/agents/me/keys', { token: as })
    for (let n = 0; n < 5; n++) expectProblem(await rotate(token), 'insufficient_scope')
    expect((await rotate(operatorToken)).status).toBe(200)
    expectProblem(await rotate(operatorToken), 'rate_limited')
  })

  test('a paused agent that asks again and again costs its operator nothing', async () => {
    const service = await services({ ...everythingOff, READS_PER_MINUTE: '2' })
    const { token, operatorToken } = await service.birth()
    const body = { status: 'paused' }
    await service.call('PATCH', '/api/agents/me', { token: operatorToken, body })
    const read = (as: string) => service.call('GET', `${memoryPath}?key=a`, { token: as })
    for (let n = 0; n < 5; n++) expectProblem(await read(token), 'agent_paused')
    expectProblem(await read(operatorToken), 'memory_not_found')
  })

  test('an IPv6 client is its /64, and an IPv4 address is the same in IPv6 clothes', async () => {
    const service = await services({ BIRTHS_PER_HOUR_PER_ADDRESS: '1' })
    const status = async (from: string) => (await bear(service, { from })).status
    expect(await status('2001:db8:0:1::1')).toBe(201)
    expect(await status('2001:0db8::1:ffff:0:0:2')).toBe(429)
    expect(await status('2001:db8:0:2::1')).toBe(201)
    expect(await status('192.0.2.1')).toBe(201)
    expect(await status('::ffff:192.0.2.1')).toBe(429)
  })

  test('a forwarded address counts from a listed proxy alone', async () => {
    const TRUSTED_PROXIES = '10.0.0.0/8'
    const service = await services({ BIRTHS_PER_HOUR_PER_ADDRESS: '1', TRUSTED_PROXIES })
    const status = async (from: string, forwarded: string) =>
      (await bear(service, { from, headers: { 'x-forwarded-for': forwarded } })).status
    expect(await status('10.0.0.1', '192.0.2.1')).toBe(201)
    expect(await status('10.0.0.2', '192.0.2.1')).toBe(429)
    expect(await status('10.0.0.1', '192.0.2.2, 10.9.9.9')).toBe(201)
    expect(await status('10.0.0.1', '198.51.100.7, 192.0.2.2')).toBe(429)
    expect(await status('203.0.113.5', '192.0.2.3')).toBe(201)
    expect(await status('203.0.113.5', '192.0.2.4')).toBe(429)
  })

  test('a malformed Idempotency-Key is a failed authentication; a missing credential is none', async () => {
    const service = await services({ ...everythingOff, FAILURES_PER_MINUTE: '1' })
    for (let n = 0; n < 5; n++) {
      expectProblem(await service.call('GET', '/api/agents/me'), 'credentials_missing')
      const missing = await service.call('POST', '/api/agents/birth', { body: birthBody })
      expectProblem(missing, 'invalid_idempotency_key')
    }
    const malformed = { headers: { 'idempotency-key': 'guess' } }
    expectProblem(await bear(service, malformed), 'invalid_idempotency_key')
    expectProblem(await bear(service, malformed), 'too_many_failures')
  })

  test('0 turns every limit off, and no limit is shown', async () => {
    const service = await services(everythingOff)
    const { operatorToken: token } = await service.birth()
    for (let n = 0; n < 20; n++) {
      const answers = [
        await bear(service),
        await service.call('GET', '/api/agents/me', { token: 'aha_x' }),
        await service.call('GET', '/api/agents/me', { token }),
        await service.call('GET', '/api/agents/me/export', { token }),
        await service.call('PATCH', '/api/agents/me', { token, body: { status: 'active' } }),
        await write(service, token, `k${n}`, 'x'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([201, 401, 200, 200, 200, 200])
      for (const { headers } of answers) {
        expect([headers.has('ratelimit'), headers.has('ratelimit-policy')]).toEqual([false, false])
      }
    }
  })

  test('every endpoint names its budget in every answer', async () => {
    const service = await services({ FAILURES_PER_MINUTE: '60' })
    const { operatorToken: token } = await service.birth()
    for (const { path, operationId, ...endpoint } of homeEndpoints) {
      // A stream would never end: it is asked for its head alone.
      const method = operationId === 'followEvents' ? 'HEAD' : endpoint.method
      const answers = [
        await service.call(method, path),
        await service.call(method, path, { token }),
        await service.call(method, `${path}?unknown=1`, { token }),
        await service.call(method, path, { token, headers: { origin: 'https://evil.example' } }),
      ]
      for (const { headers } of answers) {
        expect(headers.get('ratelimit-policy'), operationId).toMatch(/^"[a-z-]+";q=\d+;w=\d+$/)
      }
    }
  })
})
