import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  appBeside,
  ask,
  birthBody,
  engines,
  freshKey,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

const path = '/api/agents/birth'

describe.each(engines)('birth on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  })
  afterAll(() => service.close())

  const bear = (body: unknown, idempotencyKey = freshKey()) =>
    service.call('POST', path, { headers: { 'idempotency-key': idempotencyKey }, body })

  const agents = async () => (await service.store.status()).agents

  test(
    'one call makes an active agent and gives its two tokens',
    proves(
      'service.birth',
      'endpoint.birth',
      'birth.result.agent_id',
      'birth.result.token',
      'birth.result.operator_token',
    ),
    async () => {
      const born = await bear(birthBody)
      expect(born.status).toBe(201)
      expect(born.body).toEqual({
        agent_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/),
        token: expect.stringMatching(/^aha_[0-9A-Za-z]{49}$/),
        operator_token: expect.stringMatching(/^aho_[0-9A-Za-z]{49}$/),
      })
      expect(born.headers.get('location')).toBe('/api/agents/me')
      expect(born.headers.get('cache-control')).toBe('no-store')
      for (const token of [born.body.token, born.body.operator_token].map(String)) {
        const { body } = await service.call('GET', '/api/agents/me', { token })
        const { operatorConsent: _, ...shown } = birthBody
        expect(body.profile).toMatchObject({
          ...shown,
          agent_id: born.body.agent_id,
          status: 'active',
        })
      }
    },
  )

  test(
    'the same key and body give the same tokens again, and no second agent',
    proves('replay.same', 'birth.result.replayed', 'service.birth'),
    async () => {
      const key = freshKey()
      const born = await bear(birthBody, key)
      const before = await agents()
      const again = await bear(birthBody, key)
      expect(again.status).toBe(200)
      expect(again.body).toEqual({ ...born.body, replayed: true })
      const reordered = JSON.stringify(Object.fromEntries(Object.entries(birthBody).toReversed()))
      expect((await bear(reordered.replaceAll(',', ' ,\n'), key)).body).toEqual(again.body)
      expect(await agents()).toBe(before)
    },
  )

  test('of 64 births at once with one key, one is created and 63 are replays of it', async () => {
    const before = await agents()
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 64 }, () => bear(birthBody, key)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(63)
    expect(new Set(answers.map(({ body }) => `${body.token} ${body.operator_token}`)).size).toBe(1)
    expect(await agents()).toBe(before + 1)
  })

  test.each([
    { name: 'Atlas ' },
    { purpose: 'Another.' },
    { symbol: 'mriya' },
    { email: 'a@example.org', password: 'correct horse battery' },
  ])(
    'the same key with another body is a conflict: %j',
    proves('errors.birth.409'),
    async (change) => {
      const key = freshKey()
      await bear(birthBody, key)
      const before = await agents()
      expectProblem(await bear({ ...birthBody, ...change }, key), 'birth_conflict')
      expect(await agents()).toBe(before)
    },
  )

  test(
    'after a rotation the same call is refused, and says why',
    proves('replay.rotated', 'errors.birth.409'),
    async () => {
      const { idempotencyKey, operatorToken } = await service.birth()
      await service.call('POST', '/api/agents/me/keys', { token: operatorToken })
      expectProblem(await bear(birthBody, idempotencyKey), 'credentials_rotated')
      expectProblem(await bear({ ...birthBody, name: 'B' }, idempotencyKey), 'credentials_rotated')
    },
  )

  test.each(['findBirth', 'countBirths'] as const)(
    'the last birth of an hour is replayed to who asks for the same beside it, after %s',
    async (verb) => {
      const from = verb === 'findBirth' ? '203.0.113.1' : '203.0.113.2'
      // As many as the defaults allow, but for one.
      for (let n = 1; n < 10; n++) {
        const headers = { 'idempotency-key': freshKey() }
        await service.call('POST', path, { headers, body: birthBody, from })
      }
      const same = { headers: { 'idempotency-key': freshKey() }, body: birthBody, from }
      const asked = service.store[verb] as (...args: readonly unknown[]) => Promise<unknown>
      const app = appBeside(service, {
        [verb]: async (...args: readonly unknown[]) => {
          const answer = await asked(...args)
          expect((await service.call('POST', path, same)).status).toBe(201)
          return answer
        },
      })
      expect((await ask(app, 'POST', path, same)).status).toBe(200)
    },
  )

  test('a birth is replayed while its agent is paused and after it wrote', async () => {
    const { idempotencyKey, token, operatorToken } = await service.birth()
    await write(service, token, 'plan', 'Step 1')
    await service.call('PATCH', '/api/agents/me', {
      token: operatorToken,
      body: { status: 'paused' },
    })
    expect((await bear(birthBody, idempotencyKey)).body).toMatchObject({ token, replayed: true })
  })

  test('births with different keys are different agents, even with one body', async () => {
    const [a, b] = [await bear(birthBody), await bear(birthBody)]
    expect(new Set([a.body.agent_id, b.body.agent_id]).size).toBe(2)
    expect(a.body.token).not.toBe(b.body.token)
  })

  test('an agent’s id tells when it was born, by the clock that is handed in', async () => {
    service.tick(3_600_000)
    const earliest = service.now()
    const { body } = await bear(birthBody)
    const born = Number.parseInt(String(body.agent_id).replace('-', '').slice(0, 12), 16)
    expect(born).toBeGreaterThanOrEqual(earliest)
    expect(born).toBeLessThanOrEqual(service.now())
  })

  test.each(['name', 'purpose', 'symbol', 'operatorConsent'])(
    '%s is required',
    proves(
      'birth.name.required',
      'birth.purpose.required',
      'birth.symbol.required',
      'birth.consent.required',
    ),
    async (field) => {
      const before = await agents()
      const { [field]: _, ...rest } = birthBody as Record<string, unknown>
      for (const body of [rest, { ...rest, [field]: null }, { ...rest, [field]: 7 }]) {
        const refused = await bear(body)
        expectProblem(refused, 'invalid_body')
        expect(pointersOf(refused)).toEqual([`/${field}`])
      }
      expect(await agents()).toBe(before)
    },
  )

  test.each([false, 'true', 1, null])(
    'operatorConsent must be true, and %j is not',
    proves('service.consent', 'birth.consent.required'),
    async (operatorConsent) => {
      const refused = await bear({ ...birthBody, operatorConsent })
      expectProblem(refused, 'invalid_body')
      expect(pointersOf(refused)).toEqual(['/operatorConsent'])
    },
  )

  test(
    'a property that is not listed is refused and named',
    proves('birth.no-other-properties', 'errors.birth.400'),
    async () => {
      const refused = await bear({ ...birthBody, status: 'active', 'a/b~c': 1, constructor: 1 })
      expectProblem(refused, 'invalid_body')
      expect(pointersOf(refused)).toEqual(['/status', '/a~1b~0c', '/constructor'])
    },
  )

  test('every fault of a body is named at once', async () => {
    const refused = await bear({ name: '', purpose: 7, symbol: 'none', operatorConsent: false })
    expect(pointersOf(refused).toSorted()).toEqual([
      '/name',
      '/operatorConsent',
      '/purpose',
      '/symbol',
    ])
  })

  test.each([
    ['no key', undefined],
    ['an empty key', ''],
    ['63 digits', 'a'.repeat(63)],
    ['65 digits', 'a'.repeat(65)],
    ['upper case', 'A'.repeat(64)],
    ['no hex', 'g'.repeat(64)],
    ['a UUID', '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d'],
  ])(
    'an Idempotency-Key is required, and %s is none',
    proves(
      'idempotency-key.required',
      'idempotency-key.pattern',
      'auth.birth',
      'errors.birth.401',
      'auth.401',
    ),
    async (_, key) => {
      const before = await agents()
      const { operatorToken } = await service.birth()
      const headers = key === undefined ? {} : { 'idempotency-key': key }
      const refused = await service.call('POST', path, {
        headers,
        token: operatorToken,
        body: birthBody,
      })
      expectProblem(refused, 'invalid_idempotency_key')
      expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+"$/)
      expect(await agents()).toBe(before + 1)
    },
  )

  test('a bearer token beside the key plays no part', proves('auth.birth'), async () => {
    const born = await service.call('POST', path, {
      headers: { 'idempotency-key': freshKey(), authorization: 'Bearer nonsense' },
      body: birthBody,
    })
    expect(born.status).toBe(201)
  })

  test(
    'a birth is replayed though its address has no birth left, and births are closed',
    proves('replay.same'),
    async () => {
      const database = await engine.fresh()
      const kept = { ...engine, fresh: async () => ({ ...database, drop: async () => undefined }) }
      const open = await openService(kept, { BIRTHS_PER_HOUR_PER_ADDRESS: '1' })
      const headers = { 'idempotency-key': freshKey() }
      const again = (service: TestService) =>
        service.call('POST', path, { headers, body: birthBody })
      const born = await again(open)
      const replayed = await again(open)
      expect([born.status, replayed.status]).toEqual([201, 200])
      expect(replayed.body).toEqual({ ...born.body, replayed: true })
      expect(replayed.headers.get('ratelimit')).toMatch(/^"births";r=0;t=\d+$/)
      await open.close()
      const closed = await openService(kept, { BIRTHS_ENABLED: 'false' })
      expect((await again(closed)).body).toEqual(replayed.body)
      await closed.close()
      await database.drop()
    },
  )

  test('it is refused in the order origin, key, body, replay, closed, rate', async () => {
    const limited = await openService(engine, { BIRTHS_PER_HOUR_PER_ADDRESS: '1' })
    const key = freshKey()
    const send = (
      options: { origin?: string; key?: string; body?: unknown },
      service: TestService = limited,
    ) =>
      service.call('POST', path, {
        headers: {
          ...(options.origin !== undefined && { origin: options.origin }),
          ...(options.key !== undefined && { 'idempotency-key': options.key }),
        },
        body: options.body ?? {},
      })
    const wrong = { origin: 'https://evil.example', body: { name: '' } }
    expect((await send({ key, body: birthBody })).status).toBe(201)
    expectProblem(await send({ ...wrong }), 'origin_denied')
    expectProblem(await send({ body: wrong.body }), 'invalid_idempotency_key')
    expectProblem(await send({ key, body: wrong.body }), 'invalid_body')
    const other = { ...birthBody, name: 'Other' }
    expectProblem(await send({ key, body: other }), 'birth_conflict')
    expectProblem(await send({ key: freshKey(), body: birthBody }), 'rate_limited')
    await limited.close()
    const env = { BIRTHS_ENABLED: 'false', BIRTHS_PER_HOUR_PER_ADDRESS: '1' }
    const closed = await openService(engine, env)
    expectProblem(await send({ body: birthBody }, closed), 'invalid_idempotency_key')
    expectProblem(await send({ key, body: wrong.body }, closed), 'invalid_body')
    expectProblem(await send({ key, body: birthBody }, closed), 'births_disabled')
    await closed.close()
  })
})
