import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody, engines, freshKey, openService, type TestService } from '../harness.ts'

describe.each(engines)('guessing an account’s password on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { SIGN_IN_FAILURES_PER_HOUR: '2' })
  })
  afterAll(() => service.close())

  const join = (email: string, password: string, from: string) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, email, password },
      from,
    })

  test('is counted, also with a password that nobody may choose', async () => {
    await service.birth({ email: 'three@example.org', password: 'correct horse battery' })
    for (const email of ['three@example.org', 'nobody@example.org']) {
      const statuses = []
      for (let n = 0; n < 3; n++) {
        statuses.push((await join(email, 'Password123!', '192.0.2.9')).status)
      }
      expect(statuses).toEqual([400, 400, 429])
    }
  })

  test('ends for that account alone, from whatever address it comes', async () => {
    await service.birth({ email: 'one@example.org', password: 'correct horse battery' })
    await service.birth({ email: 'two@example.org', password: 'correct horse battery' })
    for (const from of ['192.0.2.1', '192.0.2.2']) {
      expect((await join('One@example.org', 'wrong horse battery', from)).status).toBe(401)
    }
    const refused = await join('one@example.org', 'correct horse battery', '192.0.2.3')
    expect(refused.status).toBe(429)
    expect(refused.body.code).toBe('too_many_failures')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
    expect((await join('two@example.org', 'correct horse battery', '192.0.2.1')).status).toBe(201)
  })
})
