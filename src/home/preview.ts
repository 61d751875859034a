/** GET /api/agents/preview: what a birth offers and asks, before anything is created. */
import { z } from '@hono/zod-openapi'
import { json } from '../http/call.ts'
import { showStanding } from '../pipeline/budgets.ts'
import { symbolIds, symbols } from '../symbols.ts'
import { addressStanding } from './birth-limits.ts'
import { clientOf, openEndpoint } from './endpoint.ts'
import type { Home } from './home.ts'

const CONSENT =
  'Obtain your operator’s permission before you register or send data, then set operatorConsent to true.'

const named = z.object({ uk: z.string(), en: z.string() })

const previewSchema = z
  .object({
    available: z.boolean().openapi({ description: 'A birth would be accepted now.' }),
    status: z.enum(['open', 'closed', 'busy']),
    limits: z.object({ memoriesPerAgent: z.int() }).loose().openapi({
      description: 'The very limits that are enforced. 0 means without limit.',
    }),
    symbols: z.array(
      z.object({ id: z.enum(symbolIds), glyph: z.string(), name: named, meaning: z.string() }),
    ),
    consent: z.string(),
    interface: z.object({
      version: z.string(),
      openapi: z.string(),
      exportFormat: z.string(),
      birth: z.string(),
    }),
  })
  .openapi('Preview')

const shownSymbols = symbols.map(({ id, glyph, name, meaning }) => ({ id, glyph, name, meaning }))

const INTERFACE = {
  version: '1.0.0',
  openapi: '/openapi.json',
  exportFormat: 'service-home-v1',
  birth: 'POST /api/agents/birth with an Idempotency-Key header of 64 lowercase hex characters',
} as const

const statusOf = (home: Home, allowed: boolean) =>
  home.birthsEnabled ? (allowed ? 'open' : 'busy') : 'closed'

export const preview = openEndpoint({
  operationId: 'previewAgent',
  method: 'GET',
  path: '/api/agents/preview',
  access: 'anyone',
  budget: 'births',
  summary: 'Availability, limits and symbols',
  responses: {
    200: {
      description: 'What a birth offers and asks.',
      schema: previewSchema,
      example: {
        available: true,
        status: 'open',
        limits: { memoriesPerAgent: 1_000 },
        symbols: shownSymbols.slice(0, 2),
        consent: CONSENT,
        interface: INTERFACE,
      },
      headers: {
        RateLimit: 'The births left to this address.',
        'RateLimit-Policy': 'The budget of births for each address.',
      },
    },
  },
  errors: [],
  async handle(call, home) {
    const standing = await addressStanding(home, clientOf(call, home))
    showStanding(call, standing)
    const status = statusOf(home, standing.allowed)
    return json(call, 200, {
      available: status === 'open',
      status,
      limits: home.limits,
      symbols: shownSymbols,
      consent: CONSENT,
      interface: INTERFACE,
    })
  },
})
