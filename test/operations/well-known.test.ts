/** What programs ask every address for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService } from '../harness.ts'

const SECURITY = '/.well-known/security.txt'
const CATALOG = '/.well-known/api-catalog'
const DAY_MS = 86_400_000

let service: TestService
let abroad: TestService
beforeAll(async () => {
  service = await openService(embedded)
  abroad = await openService(embedded, {
    PUBLIC_URL: 'https://home.example',
    SECURITY_CONTACT: 'https://example.org/report',
  })
})
afterAll(() => Promise.all([service.close(), abroad.close()]))

test('/openapi.json is not sent again to who has it', async () => {
  const { headers, text } = await service.call('GET', '/openapi.json')
  const etag = headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  const known = { 'if-none-match': etag }
  const again = await service.call('GET', '/openapi.json', { headers: known })
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
  const other = await abroad.call('GET', '/openapi.json', { headers: known })
  expect(other.status).toBe(200)
  expect(other.text).not.toBe(text)
  expect(other.headers.get('etag')).not.toBe(etag)
})

test('/robots.txt keeps crawlers out of what is not for them, and lets an AI find the guide', async () => {
  const { text, headers } = await service.call('GET', '/robots.txt')
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const closed = [...text.matchAll(/^Disallow: (.+)$/gm)].map(([, path]) => path)
  expect(closed).toEqual(['/api/agents/', '/console', '/metrics'])
  expect(text).toMatch(/^User-agent: \*$/m)
  expect(text).toContain('/llms.txt')
})

test('/favicon.ico is a drawing, and may be kept', async () => {
  const { text, headers } = await service.call('GET', '/favicon.ico')
  expect(headers.get('content-type')).toBe('image/svg+xml')
  expect(headers.get('cache-control')).toBe('public, max-age=86400')
  expect(text).toMatch(/^<svg .*<\/svg>$/)
})

describe('security.txt', () => {
  const fieldsOf = async (of: TestService) => {
    const { text, headers } = await of.call('GET', SECURITY)
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const fields = text.trim().split('\n')
    return new Map(fields.map((field) => field.split(': ') as [string, string]))
  }

  test('names the contact that is set, and where it stands', async () => {
    const fields = await fieldsOf(abroad)
    expect(fields.get('Contact')).toBe('https://example.org/report')
    expect(fields.get('Canonical')).toBe(`https://home.example${SECURITY}`)
    expect(fields.get('Preferred-Languages')).toBe('en')
  })

  test('without one names the mailbox that is there for it at every host', async () => {
    const other = await openService(embedded, { PUBLIC_URL: 'http://home.example:8080/' })
    expect((await fieldsOf(other)).get('Contact')).toBe('mailto:security@home.example')
    expect((await fieldsOf(other)).has('Canonical')).toBe(false)
    expect((await fieldsOf(service)).get('Contact')).toBe('mailto:security@localhost')
    await other.close()
  })

  test('never expires while the service runs, and is good for less than a year', async () => {
    for (const days of [0, 1, 400]) {
      service.tick(days * DAY_MS)
      const expires = (await fieldsOf(service)).get('Expires') ?? ''
      expect(expires).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/)
      const left = Date.parse(expires) - service.now()
      expect(left).toBeGreaterThan(90 * DAY_MS)
      expect(left).toBeLessThan(365 * DAY_MS)
    }
  })
})

describe('the catalogue', () => {
  interface Links {
    readonly anchor: string
    readonly [relation: string]: unknown
  }
  const linksOf = async (of: TestService) => {
    const { headers, text } = await of.call('GET', CATALOG)
    expect(headers.get('content-type')).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    )
    return (JSON.parse(text) as { linkset: Links[] }).linkset
  }

  test('leads to documents that are there', async () => {
    const links = await linksOf(service)
    expect(links.map(({ anchor }) => anchor)).toEqual(['/api/agents', '/api/resonance'])
    for (const { anchor: _, ...relations } of links) {
      expect(Object.keys(relations)).toEqual(['service-desc', 'service-doc', 'status'])
      for (const [{ href, type }] of Object.values(relations) as [
        [{ href: string; type: string }],
      ]) {
        const { status, headers } = await service.call('GET', href)
        expect([status, headers.get('content-type')?.split(';')[0]], href).toEqual([200, type])
      }
    }
  })

  test('names whole addresses where the service knows its own', async () => {
    const [home] = await linksOf(abroad)
    expect(home?.anchor).toBe('https://home.example/api/agents')
    expect(home?.['service-doc']).toEqual([
      { href: 'https://home.example/llms.txt', type: 'text/plain' },
    ])
  })

  test('is told by HEAD, and may be read by any page', async () => {
    const { headers } = await abroad.call('HEAD', CATALOG)
    expect(headers.get('link')).toBe(`<https://home.example${CATALOG}>; rel="api-catalog"`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})
