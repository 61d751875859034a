/** How a token may be sent, and how not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Born, embedded, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'

describe('a token', () => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(embedded)
    born = await service.birth()
  })
  afterAll(() => service.close())

  const sent = (authorization: string) =>
    service.call('GET', '/api/agents/me', { headers: { authorization } })

  const asked = (query: string) =>
    service.call('GET', `/api/agents/me?${query}`, { token: born.token })

  test.each(['Bearer ', 'bearer ', 'BEARER ', 'Bearer  '])('is sent after "%s"', async (scheme) => {
    expect((await sent(scheme + born.token)).status).toBe(200)
  })

  test.each(['', 'XBearer ', 'Token Bearer ', 'Bearer', 'Bearer\t', 'Basic '])(
    'is none after "%s"',
    async (scheme) => {
      expectProblem(await sent(scheme + born.token), 'credentials_missing')
    },
  )

  test('is one, not several in one header', async () => {
    expectProblem(await sent(`Bearer ${born.token},Bearer ${born.token}`), 'invalid_token')
    expectProblem(await sent(`Bearer ${born.token}, Bearer ${born.token}`), 'invalid_token')
  })

  test.each(['token=abc', 'access_token=abc', 'a=1&token=abc', 'a=1&access_token=', 'token='])(
    'is not looked for in an address, and "%s" is refused for it',
    async (query) => {
      expectProblem(await asked(query), 'token_in_query')
    },
  )

  test('of ours is refused in an address under whatever name', async () => {
    for (const token of [born.token, born.operatorToken]) {
      expectProblem(await asked(`key=${token}`), 'token_in_query')
      expectProblem(await asked(token), 'token_in_query')
    }
  })

  test.each(['mytoken=abc', 'token', 'tokens=1', 'key=aha_plan', 'key=aho_0123456789'])(
    'is not what "%s" holds',
    async (query) => {
      expectProblem(await asked(query), 'invalid_query')
    },
  )
})
