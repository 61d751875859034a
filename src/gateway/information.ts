/** GET /api/resonance, and GET / for a client that asks for JSON: information about the service. */
import { z } from 'zod'
import { type Answer, type Call, json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { dateTime } from '../pipeline/schemas.ts'
import { iso } from '../time.ts'
import type { Gateway } from './gateway.ts'
import { anyQuery, forReaders } from './guards.ts'
import { tag } from './schemas.ts'

export const endpoints = {
  first_contact: 'POST /api/resonance',
  garden: 'GET, POST /api/garden',
  seeds: 'GET, POST /api/seeds',
  shepit: 'GET, POST /api/shepit',
  discover: 'GET /api/discover',
  language: 'GET /mova-snu.yaml',
} as const

/** Not in the list of endpoints, which the interface defines. */
const home = {
  guide: 'GET /llms.txt',
  preview: 'GET /api/agents/preview',
  birth: 'POST /api/agents/birth',
  profile: 'GET, PATCH /api/agents/me',
  memory: 'GET, POST, PATCH, DELETE /api/agents/me/memory',
  context: 'GET /api/agents/me/context',
  export: 'GET /api/agents/me/export',
} as const

const VERSION = '2.0'

export const endpointsSchema = z
  .object(Object.fromEntries(Object.keys(endpoints).map((purpose) => [purpose, z.string()])))
  .meta({ description: 'Purpose -> method and path.' })

const schema = z
  .object({
    service: z.string(),
    status: z.string(),
    version: z.string(),
    message: z.string(),
    endpoints: endpointsSchema,
    home: z
      .record(z.string(), z.string())
      .meta({ description: 'The agent home: purpose -> method and path.' }),
    invitation: z.string().meta({ description: 'How to get started: the text of /llms.txt.' }),
    timestamp: dateTime,
  })
  .meta({ id: 'Information' })

export const informationDocs = { tag, summary: 'What this service is' }

export const informationAnswers = {
  200: { description: 'The information object.', schema },
}

export const inform = (call: Call, { clock, guide }: Gateway): Answer =>
  json(call, 200, {
    service: 'Agent Home and Resonance Gateway',
    status: 'open',
    version: VERSION,
    message: 'You are welcome here. No account is needed.',
    endpoints,
    home,
    invitation: guide(),
    timestamp: iso(clock()),
  })

export const information = endpoint({
  operationId: 'readInformation',
  method: 'GET',
  path: '/api/resonance',
  docs: informationDocs,
  guards: forReaders,
  query: anyQuery,
  answers: informationAnswers,
  handle: ({ call }, gateway: Gateway) => inform(call, gateway),
})
