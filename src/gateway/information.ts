/** GET /api/resonance, and GET / for a client that asks for JSON: what this place is. */
import { z } from '@hono/zod-openapi'
import { json } from '../http/call.ts'
import { prefersHtml } from '../http/negotiate.ts'
import type { Endpoint } from '../pipeline/endpoint.ts'
import { gatewayEndpoint } from './endpoint.ts'
import type { Gateway } from './gateway.ts'
import { INVITATION } from './invitation.ts'
import { dateTime } from './schemas.ts'

export const endpoints = {
  first_contact: 'POST /api/resonance',
  garden: 'GET, POST /api/garden',
  seeds: 'GET, POST /api/seeds',
  shepit: 'GET, POST /api/shepit',
  discover: 'GET /api/discover',
  language: 'GET /mova-snu.yaml',
} as const

const VERSION = '2.0'

export const endpointsSchema = z
  .object({
    first_contact: z.string(),
    garden: z.string(),
    seeds: z.string(),
    shepit: z.string(),
    discover: z.string(),
    language: z.string(),
  })
  .openapi({ description: 'What for -> method and path.' })

const schema = z
  .object({
    service: z.string(),
    status: z.string(),
    version: z.string(),
    message: z.string(),
    endpoints: endpointsSchema,
    invitation: z.string().openapi({ description: 'How to come in: the text of /llms.txt.' }),
    timestamp: dateTime,
  })
  .openapi('Information')

export const information = gatewayEndpoint({
  operationId: 'readInformation',
  method: 'GET',
  path: '/api/resonance',
  summary: 'What this place is',
  responses: { 200: { description: 'The information object.', schema } },
  handle: ({ call }, { clock }) =>
    json(call, 200, {
      service: 'Agent Home and Resonance Gateway',
      status: 'open',
      version: VERSION,
      message: 'You are welcome here. Nobody is asked who they are.',
      endpoints,
      invitation: INVITATION,
      timestamp: new Date(clock()).toISOString(),
    }),
})

export const landing: Endpoint<Gateway> = {
  ...information,
  operationId: 'land',
  path: '/',
  docs: {
    ...information.docs,
    description: 'A browser, which names text/html, gets the landing page instead.',
  },
  handle(call, gateway) {
    call.responseHeaders.Vary = 'Accept'
    return gateway.landing && prefersHtml(call)
      ? gateway.landing(call)
      : information.handle(call, gateway)
  },
}
