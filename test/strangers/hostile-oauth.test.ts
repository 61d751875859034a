/** What strangers send to OAuth takes time in proportion to its length, and leaves nothing behind. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { authorize, post, register, request } from '../oauth/client.ts'

let service: TestService
let clientId: string
beforeAll(async () => {
  service = await openService(embedded, {
    OAUTH_PER_MINUTE: '0',
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '0',
    REGISTRATIONS_PER_HOUR: '0',
  })
  clientId = await register(service)
})
afterAll(() => service.close())

/** As much as the headers of a request hold. */
const MOST = 14_000

const repeated = (part: string, chars: number): string =>
  part.repeat(Math.floor(chars / part.length))

test.each([
  '&state=a',
  '&client_id=x',
  '&redirect_uri=x',
  '&scope=x',
  '&prompt=a',
  '&other=a',
  '&resource=http%3A%2F%2F127.0.0.1%3A8787%2Fmcp',
])('a request with %s again and again', async (part) => {
  const ask = (chars: number) => () => authorize(service, request(clientId) + repeated(part, chars))
  expect(await growth(ask(MOST / 4), ask(MOST))).toBeLessThan(NOT_QUADRATIC)
})

test.each(['state', 'scope', 'client_id', 'redirect_uri', 'code_challenge'])(
  'a request with a long %s',
  async (name) => {
    const ask = (chars: number) => () =>
      authorize(service, request(clientId, { [name]: repeated('a b ', chars / 2) }))
    expect(await growth(ask(MOST / 4), ask(MOST))).toBeLessThan(NOT_QUADRATIC)
  },
)

test.each(['refresh_token', 'client_id', 'scope', 'other'])(
  'a form with a long %s',
  async (name) => {
    const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x' }
    const ask = (chars: number) => () =>
      post(service, '/oauth/token', { ...fields, [name]: repeated('%a+', chars / 2) })
    expect(await growth(ask(MOST / 4), ask(MOST))).toBeLessThan(NOT_QUADRATIC)
  },
)

test('a registration of as many and as long redirects as there may be', async () => {
  const register_ = (uris: number) => () =>
    service.call('POST', '/oauth/register', {
      body: {
        client_name: 'x'.repeat(200),
        redirect_uris: Array.from({ length: uris }, (_, n) =>
          `https://a.example/${n}`.padEnd(900, 'x'),
        ),
      },
    })
  expect((await register_(16)()).status).toBe(201)
  expect((await register_(21)()).status).toBe(413)
  expect(await growth(register_(4), register_(16))).toBeLessThan(NOT_QUADRATIC)
})
