/** Refusals that every home endpoint owes, whatever it does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { homeEndpoints } from '../../src/home/index.ts'
import { embedded, freshKey, openService, type TestService } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

describe('refusals', () => {
  let service: TestService
  let disabled: TestService
  beforeAll(async () => {
    service = await openService(embedded)
    disabled = await openService(embedded, { HOME_ENABLED: 'false' })
  })
  afterAll(async () => {
    await service.close()
    await disabled.close()
  })

  test.each(homeEndpoints)(
    '$operationId is 503 where the home is not enabled, before anything else',
    proves(
      'errors.birth.503',
      'errors.profile.503',
      'errors.export.503',
      'errors.status.503',
      'errors.keys.503',
      'errors.memory-read.503',
      'errors.memory-write.503',
    ),
    async ({ method, path }) => {
      const headers = { origin: 'https://evil.example', authorization: 'Bearer a, Bearer b' }
      expectProblem(await disabled.call(method, path, { headers }), 'home_disabled')
      expect((await disabled.call('GET', '/healthz')).status).toBe(200)
    },
  )

  test.each(homeEndpoints)(
    '$operationId refuses a query parameter it does not know, and one that is sent twice',
    proves(
      'errors.birth.400',
      'errors.profile.400',
      'errors.export.400',
      'errors.status.400',
      'errors.keys.400',
      'errors.memory-read.400',
      'errors.memory-write.400',
    ),
    async ({ method, path }) => {
      const { operatorToken: token } = await service.birth()
      const send = (query: string) =>
        service.call(method, `${path}?${query}`, {
          token,
          headers: { 'idempotency-key': freshKey() },
        })
      const unknown = await send('key=a&verbose')
      expectProblem(unknown, 'invalid_query')
      expect(pointersOf(unknown)).toContain('?verbose')
      const twice = await send('key=a&key=b')
      expectProblem(twice, 'invalid_query')
      expect(pointersOf(twice)).toEqual(['?key'])
    },
  )

  test.each(homeEndpoints)('$path knows its methods and refuses others', async ({ path }) => {
    const { operatorToken: token } = await service.birth()
    const known = homeEndpoints.filter((other) => other.path === path).map(({ method }) => method)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']) {
      if (known.some((other) => other === method)) continue
      const refused = await service.call(method, path, { token })
      expectProblem(refused, 'method_not_allowed')
      expect(refused.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(known))
    }
  })

  test.each([
    '/api',
    '/api/agents',
    '/api/agents/',
    '/api/agents/me/',
    '/API/agents/me',
    '/api/agents/me/memory/plan',
    '/api/agents/me/Export',
    '/api//agents/me',
    '/api/agents/me%2fmemory',
    '/.env',
    '/%',
  ])('nothing is at %s', async (path) => {
    const { token } = await service.birth()
    expectProblem(await service.call('GET', path, { token }), 'not_found')
  })
})
