/** Well-known files: /robots.txt, /favicon.ico, and /.well-known/. */
import { z } from 'zod'
import { answer, json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { openToAll } from '../pipeline/guards/origin.ts'
import { type Operations, tag } from './operations.ts'

const TEXT = 'text/plain; charset=utf-8'

/** Private and administrative paths are not for crawlers. */
const ROBOTS = `# An AI that is here for itself: /llms.txt
User-agent: *
Disallow: /api/agents/
Disallow: /console
Disallow: /metrics
`

export const robots = endpoint({
  operationId: 'readRobots',
  method: 'GET',
  path: '/robots.txt',
  docs: { tag, summary: 'Rules for crawlers (RFC 9309)' },
  guards: [],
  answers: {
    200: { description: 'The rules.', schema: z.string(), mediaType: 'text/plain' },
  },
  handle: ({ call }) => answer(call, 200, ROBOTS, TEXT),
})

const KEEP_A_DAY = 'public, max-age=86400'

export const favicon = endpoint({
  operationId: 'readIcon',
  method: 'GET',
  path: '/favicon.ico',
  docs: { tag, summary: 'The icon of this service' },
  guards: [],
  answers: {
    200: {
      description: 'The icon, as SVG.',
      schema: z.string(),
      mediaType: 'image/svg+xml',
      headers: { 'Cache-Control': 'The icon may be cached for a day.' },
    },
  },
  handle({ call }, { icon }: Operations) {
    call.responseHeaders['Cache-Control'] = KEEP_A_DAY
    return answer(call, 200, icon, 'image/svg+xml')
  },
})

const DAY_MS = 86_400_000

/** RFC 9116 recommends less than a year; the date is renewed daily. */
const TRUSTED_DAYS = 180

/** Constant for a day. */
function expiry(nowMs: number): string {
  const days = Math.floor(nowMs / DAY_MS) + TRUSTED_DAYS
  return new Date(days * DAY_MS).toISOString().replace('.000', '')
}

const SECURITY = '/.well-known/security.txt'

export const security = endpoint({
  operationId: 'readSecurity',
  method: 'GET',
  path: SECURITY,
  docs: { tag, summary: 'Where to report a vulnerability (RFC 9116)' },
  guards: [],
  answers: {
    200: { description: 'The security contact.', schema: z.string(), mediaType: 'text/plain' },
  },
  handle({ call }, { clock, securityContact, publicUrl = '' }: Operations) {
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${expiry(clock())}`,
      'Preferred-Languages: en',
      // RFC 9116 requires https.
      ...(publicUrl.startsWith('https:') ? [`Canonical: ${publicUrl}${SECURITY}`] : []),
    ]
    return answer(call, 200, `${lines.join('\n')}\n`, TEXT)
  },
})

const CATALOG = '/.well-known/api-catalog'
const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** Relative to this document if no public address is configured. */
function catalogOf(base: string) {
  const about = {
    'service-desc': [{ href: `${base}/openapi.json`, type: 'application/json' }],
    'service-doc': [{ href: `${base}/llms.txt`, type: 'text/plain' }],
    status: [{ href: `${base}/healthz`, type: 'application/json' }],
  }
  return {
    linkset: ['/api/agents', '/api/resonance'].map((path) => ({ anchor: base + path, ...about })),
  }
}

export const apiCatalog = endpoint({
  operationId: 'readApiCatalog',
  method: 'GET',
  path: CATALOG,
  docs: { tag, summary: 'Both APIs and where they are described (RFC 9727)' },
  guards: [openToAll],
  answers: {
    200: {
      description: 'A set of links (RFC 9264).',
      schema: z.object({ linkset: z.array(z.looseObject({ anchor: z.string() })) }),
      mediaType: 'application/linkset+json',
      example: catalogOf(''),
      headers: { Link: 'This document, with rel=api-catalog.' },
    },
  },
  handle({ call }, { publicUrl = '' }: Operations) {
    call.responseHeaders.Link = `<${publicUrl}${CATALOG}>; rel="api-catalog"`
    return answer(call, 200, JSON.stringify(catalogOf(publicUrl)), LINKSET)
  },
})

export const readKeys = endpoint({
  operationId: 'readSigningKeys',
  method: 'GET',
  path: '/.well-known/jwks.json',
  docs: { tag, summary: 'The keys that sign statements (RFC 7517)' },
  guards: [openToAll],
  answers: {
    200: {
      description: 'A set of public keys.',
      schema: z
        .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
        .meta({ id: 'SigningKeys' }),
      example: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAY…', kid: 'kPrK_q…' }] },
      headers: { 'Cache-Control': 'The keys may be cached for ten minutes.' },
    },
  },
  async handle({ call }, { signing }: Operations) {
    const { publicJwk } = await signing()
    call.responseHeaders['Cache-Control'] = 'public, max-age=600'
    return json(call, 200, { keys: [publicJwk] })
  },
})
