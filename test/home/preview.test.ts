import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody, embedded, freshKey, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'

const path = '/api/agents/preview'

describe('preview', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  test(
    'it says that births are open, and gives the limits, the symbols and the interface',
    proves('endpoint.preview', 'service.json'),
    async () => {
      const { status, body, headers } = await service.call('GET', path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json')
      expect(body).toMatchObject({
        available: true,
        status: 'open',
        consent: expect.stringContaining('operatorConsent'),
        interface: { version: '1.0.0', exportFormat: 'service-home-v1' },
      })
      expect(body.symbols).toHaveLength(26)
      expect(headers.get('ratelimit-policy')).toBe('"births";q=10;w=3600')
    },
  )

  test(
    'each of its symbols is one that a birth accepts, and no other is',
    proves('birth.symbol.from-preview'),
    async () => {
      const { body } = await service.call('GET', path)
      const ids = (body.symbols as { id: string }[]).map(({ id }) => id)
      expect(new Set(ids).size).toBe(26)
      for (const symbol of ids) await service.birth({ symbol })
      const refused = await service.call('POST', '/api/agents/birth', {
        headers: { 'idempotency-key': freshKey() },
        body: { ...birthBody, symbol: 'Zerno' },
      })
      expectProblem(refused, 'invalid_body')
    },
  )

  test('it says when births are closed, and when this address has used up its own', async () => {
    const closed = await openService(embedded, { BIRTHS_ENABLED: 'false' })
    expect((await closed.call('GET', path)).body).toMatchObject({
      available: false,
      status: 'closed',
    })
    await closed.close()
    const busy = await openService(embedded, { BIRTHS_PER_HOUR_PER_ADDRESS: '1' })
    const birth = { headers: { 'idempotency-key': freshKey() }, body: birthBody }
    await busy.call('POST', '/api/agents/birth', birth)
    expect((await busy.call('GET', path)).body).toMatchObject({ available: false, status: 'busy' })
    expect((await busy.call('GET', path, { from: '192.0.2.9' })).body.status).toBe('open')
    await busy.close()
  })

  test('an unknown query parameter is refused, not ignored', async () => {
    expectProblem(await service.call('GET', `${path}?lang=uk`), 'invalid_query')
  })
})
