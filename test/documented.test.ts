/** What every test's answers are held to, tried with answers that are not as described. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkDocumented } from './documented.ts'
import { type Answer, engines, openService, type TestService } from './harness.ts'

const path = '/api/agents/preview'

let service: TestService
let answer: Answer
beforeAll(async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  service = await openService(embedded)
  answer = await service.call('GET', path)
})
afterAll(() => service.close())

const check = (extra: Partial<Answer>, headers: Readonly<Record<string, string>> = {}) => {
  const given = new Headers([...answer.headers, ...Object.entries(headers)])
  return checkDocumented(service.app, 'GET', path, { ...answer, headers: given, ...extra })
}

test('an answer as it is described passes', async () => {
  await expect(check({})).resolves.toBeUndefined()
})

test('a header that is not described for the status does not', async () => {
  await expect(check({}, { 'X-Powered-By': 'us' })).rejects.toThrow('x-powered-by')
  await expect(check({}, { 'Retry-After': '1' })).rejects.toThrow('retry-after')
})

test('a status, a shape or a code that is not described does not', async () => {
  await expect(check({ status: 418 })).rejects.toThrow('418')
  await expect(check({ body: {} })).rejects.toThrow()
  const headers = new Headers(answer.headers)
  headers.set('content-type', 'application/problem+json')
  const refused = { status: 403, headers, body: { code: 'agent_paused' } }
  await expect(check(refused)).rejects.toThrow('agent_paused')
})

test('an answer without what all have does not', async () => {
  const headers = new Headers(answer.headers)
  headers.delete('x-request-id')
  await expect(check({ headers })).rejects.toThrow('X-Request-Id')
})
