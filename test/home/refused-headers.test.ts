/** What the home refuses before any of its guards is asked says what its other answers say. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, freshKey, memoryPath, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'

describe('early refusals', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { FAILURES_PER_MINUTE: '60' })
  })
  afterAll(() => service.close())

  test.each([
    ['PUT', memoryPath, 'method_not_allowed'],
    ['PUT', '/api/agents/me', 'method_not_allowed'],
    ['GET', '/api/agents/birth', 'method_not_allowed'],
    ['GET', '/api/agents', 'not_found'],
    ['GET', '/api/agents/', 'not_found'],
    ['POST', '/api/agents/me/nothing', 'not_found'],
    ['GET', '/api/agents/%00', 'malformed_request'],
  ] as const)('%s %s is not kept, and shows a budget', async (method, path, code) => {
    const refused = await service.call(method, path, { headers: { accept: 'text/html' } })
    expectProblem(refused, code)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('ratelimit-policy')).toBe('"failures";q=60;w=60')
    expect(refused.headers.get('ratelimit')).toBe('"failures";r=60;t=60')
  })

  test('a foreign origin is not kept either', async () => {
    const refused = await service.call('GET', memoryPath, { headers: { origin: 'https://e.vil' } })
    expectProblem(refused, 'origin_denied')
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('ratelimit-policy')).toBe('"reads";q=6000;w=60')
    expect(refused.headers.has('ratelimit')).toBe(false)
  })

  test('a birth that could not be shows the budget, and counts nothing', async () => {
    const headers = { 'idempotency-key': freshKey() }
    const refused = await service.call('POST', '/api/agents/birth', { headers, body: {} })
    expectProblem(refused, 'invalid_body')
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('ratelimit-policy')).toBe('"births";q=10;w=3600')
    expect(refused.headers.has('ratelimit')).toBe(false)
  })

  test('what is not the home’s shows none of its budgets', async () => {
    for (const path of ['/api/agentsx', '/api', '/nothing']) {
      const { headers } = await service.call('GET', path)
      expect([headers.has('ratelimit-policy'), headers.has('cache-control')]).toEqual([
        false,
        false,
      ])
    }
  })
})
