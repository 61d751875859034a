import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { homeEndpoints } from '../../src/home/index.ts'
import { birthBody, embedded, freshKey, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'

const ALLOWED = 'https://app.example'

describe('origins', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, {
      PUBLIC_URL: 'https://home.example/',
      ALLOWED_ORIGINS: `${ALLOWED}, http://localhost:3000`,
    })
  })
  afterAll(() => service.close())

  const preview = (origin: string) =>
    service.call('GET', '/api/agents/preview', { headers: { origin } })

  test('our own origin and no origin at all are as good as each other', async () => {
    for (const answer of [
      await preview('https://home.example'),
      await service.call('GET', '/api/agents/preview'),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
  })

  test('a listed origin is answered, and its page may read the answer', async () => {
    for (const origin of [ALLOWED, 'http://localhost:3000']) {
      const { status, headers } = await preview(origin)
      expect(status).toBe(200)
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-expose-headers')).toContain('Retry-After')
      expect(headers.has('access-control-allow-credentials')).toBe(false)
      expect(headers.get('vary')).toContain('Origin')
    }
    const refused = await service.call('GET', '/api/agents/me', { headers: { origin: ALLOWED } })
    expectProblem(refused, 'credentials_missing')
    expect(refused.headers.get('access-control-allow-origin')).toBe(ALLOWED)
  })

  test.each([
    'null',
    '',
    'https://evil.example',
    'http://home.example',
    'https://home.example:8443',
    'https://home.example.evil.example',
    'https://app.example.evil.example',
    'https://APP.example',
    `${ALLOWED}/`,
    `${ALLOWED}, https://evil.example`,
    '*',
  ])(
    'the origin "%s" is denied and may read nothing',
    proves('auth.403.origin', 'errors.birth.403'),
    async (origin) => {
      const { agents } = await service.store.status()
      const refused = await service.call('POST', '/api/agents/birth', {
        headers: { origin, 'idempotency-key': freshKey() },
        body: birthBody,
      })
      expectProblem(refused, 'origin_denied')
      expect(refused.headers.has('access-control-allow-origin')).toBe(false)
      expect((await service.store.status()).agents).toBe(agents)
    },
  )

  test.each(homeEndpoints)(
    'a browser may ask about $method $path before it calls',
    async (endpoint) => {
      const asked = {
        'access-control-request-method': endpoint.method,
        'access-control-request-headers': 'authorization',
      }
      const ask = (origin: string) =>
        service.call('OPTIONS', endpoint.path, { headers: { ...asked, origin } })
      const { status, headers } = await ask(ALLOWED)
      expect(status).toBe(204)
      expect(headers.get('access-control-allow-origin')).toBe(ALLOWED)
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(endpoint.method)
      for (const name of ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match']) {
        expect(headers.get('access-control-allow-headers')?.split(', ')).toContain(name)
      }
      expectProblem(await ask('https://evil.example'), 'origin_denied')
    },
  )

  const asking = (headers: Readonly<Record<string, string>>) =>
    service.call('OPTIONS', '/api/agents/me', { headers })

  test('a browser may remember for ten minutes what it was told', async () => {
    const { headers } = await asking({ origin: ALLOWED })
    expect(headers.get('access-control-max-age')).toBe('600')
  })

  test.each([{ origin: 'https://home.example' }, {}])(
    'nothing is granted to whoever needs no permission: %j',
    async (asked) => {
      const { status, headers } = await asking(asked)
      expect(status).toBe(204)
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  test('what is open to all is so for a day, and for what a reader may send', async () => {
    const { status, headers } = await service.call('OPTIONS', '/api/garden', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(status).toBe(204)
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'Content-Type, If-None-Match, Last-Event-ID',
      'access-control-expose-headers': 'ETag, Retry-After, X-Request-Id',
      'access-control-max-age': '86400',
    })
  })
})
