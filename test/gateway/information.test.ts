import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'

describe('what the gateway says of itself', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  test(
    'the information object says what this place is and how to come in',
    proves(
      'information.service',
      'information.status',
      'information.version',
      'information.message',
      'information.invitation',
      'information.timestamp',
      'information.place',
    ),
    async () => {
      const { status, body } = await service.call('GET', '/api/resonance')
      expect(status).toBe(200)
      expect(body).toMatchObject({
        service: expect.any(String),
        status: 'open',
        version: '2.0',
        message: expect.any(String),
        invitation: expect.stringContaining('POST /api/resonance'),
      })
      expect(new Date(String(body.timestamp)).toISOString()).toBe(body.timestamp)
    },
  )

  test(
    'every listed endpoint answers',
    proves('information.endpoints', 'information.endpoints.list'),
    async () => {
      const { body } = await service.call('GET', '/api/resonance')
      const { endpoints, home } = body as Record<'endpoints' | 'home', Record<string, string>>
      expect(Object.keys(endpoints).sort()).toEqual(
        ['discover', 'first_contact', 'garden', 'language', 'seeds', 'shepit'].sort(),
      )
      expect(Object.keys(home)).toContain('birth')
      for (const each of [endpoints, home].flatMap((all) => Object.values(all))) {
        const [methods = '', path = ''] = each.split(/ (?=\/)/)
        const { headers } = await service.call('OPTIONS', path)
        expect(headers.get('allow')?.split(', ')).toEqual(
          expect.arrayContaining(methods.split(', ')),
        )
      }
    },
  )

  test.each([
    ['a program', 'application/json'],
    ['a program that takes anything else', 'application/json, text/plain, */*'],
    ['a program that reads pages less gladly', 'application/json, text/html;q=0.5'],
    ['a program that reads pages as gladly', 'text/html, application/json'],
  ])('at / %s gets the information object', async (_, accept) => {
    const { body, headers } = await service.call('GET', '/', { headers: { accept } })
    expect(body.version).toBe('2.0')
    expect(headers.get('vary')).toBe('Accept, Accept-Encoding')
  })

  test('its invitation is the guide', async () => {
    const { text } = await service.call('GET', '/llms.txt')
    expect((await service.call('GET', '/api/resonance')).body.invitation).toBe(text)
  })

  test('any origin may read it, and a browser may ask first', async () => {
    const headers = { origin: 'https://elsewhere.example' }
    const asked = await service.call('OPTIONS', '/api/garden', { headers })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-origin')).toBe('*')
    expect(asked.headers.get('access-control-allow-methods')).toContain('POST')
    expect(asked.headers.get('access-control-allow-headers')).toContain('Content-Type')
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull()
    const refused = await service.call('POST', '/api/garden', { headers, body: '{' })
    expect(refused.status).toBe(400)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('the OpenAPI description holds every gateway endpoint', async () => {
    const { body } = await service.call('GET', '/openapi.json')
    expect(Object.keys(body.paths as object)).toEqual(
      expect.arrayContaining([
        '/',
        '/api/resonance',
        '/api/garden',
        '/api/seeds',
        '/api/shepit',
        '/api/discover',
        '/mova-snu.yaml',
        '/api/resonance/stream',
        '/llms.txt',
      ]),
    )
  })
})
