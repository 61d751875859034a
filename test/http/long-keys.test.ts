/** Faults under a very long key: what comes back is bounded by what was sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService } from '../harness.ts'

/** Each of these characters is two in a JSON pointer. */
const KEY = '~'.repeat(60_000)

const many = (member: string) => Array(1_000).fill(member).join(',')

let service: TestService
let token: string
beforeAll(async () => {
  service = await openService(embedded)
  token = (await service.birth()).token
})
afterAll(() => service.close())

test.each([
  ['the same keys twice', `{"metadata":{"${KEY}":{${many('"a":1')}}}}`],
  ['unknown properties', `{"${KEY}":1,${many('"a":1')}}`],
  ['an unknown property', `{"${KEY}":{"a":1}}`],
  ['text that is none', `{"metadata":{"${KEY}":[${many('"\\u0000"')}]}}`],
])('%s under a long key are told in twice its bytes and a little', async (_, body) => {
  for (const path of [memoryPath, '/api/garden']) {
    const { status, text } = await service.call('POST', path, { token, body })
    expect([400, 413]).toContain(status)
    expect(text.length).toBeLessThan(2 * KEY.length + 6_000)
  }
})
