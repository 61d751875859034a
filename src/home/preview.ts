/** GET /api/agents/preview: availability, limits and requirements of a birth. */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { mayCompress } from '../http/compress.ts'
import { showState } from '../pipeline/budgets.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { symbolSchema } from '../pipeline/schemas.ts'
import { shownSymbols, symbolIds } from '../symbols.ts'
import { allowanceOf } from './birth-limits.ts'
import { EXPORT_FORMAT } from './export.ts'
import { entrance, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { tag } from './schemas.ts'

const CONSENT =
  'Obtain your operator’s permission before you register or send data, then set operatorConsent to true.'

const previewSchema = z
  .object({
    available: z.boolean().meta({ description: 'Whether a birth would be accepted now.' }),
    status: z.enum(['open', 'closed', 'busy']),
    limits: z.object({ memoriesPerAgent: z.int() }).loose().meta({
      description: 'The limits in force. 0 means no limit.',
    }),
    symbols: z.array(symbolSchema.extend({ id: z.enum(symbolIds) })),
    consent: z.string(),
    interface: z.object({
      version: z.string(),
      openapi: z.string(),
      exportFormat: z.string(),
      birth: z.string(),
    }),
  })
  .meta({ id: 'Preview' })

const INTERFACE = {
  version: '1.0.0',
  openapi: '/openapi.json',
  exportFormat: EXPORT_FORMAT,
  birth: 'POST /api/agents/birth with an Idempotency-Key header of 64 lowercase hex characters',
} as const

async function statusOf(home: Home, allowed: boolean) {
  if (!home.birthsEnabled) return 'closed'
  return allowed && (await home.store.hasRoom()) ? 'open' : 'busy'
}

export const preview = endpoint({
  operationId: 'previewAgent',
  method: 'GET',
  path: '/api/agents/preview',
  docs: { tag, summary: 'Availability, limits and symbols' },
  guards: entrance('births'),
  query: noQuery,
  answers: {
    200: {
      description: 'Availability, limits, symbols, and what a birth requires.',
      schema: previewSchema,
      example: {
        available: true,
        status: 'open',
        limits: { memoriesPerAgent: 10_000 },
        symbols: shownSymbols.slice(0, 2),
        consent: CONSENT,
        interface: INTERFACE,
      },
      headers: {
        'Content-Encoding': 'gzip, if the client accepts it.',
        RateLimit: 'The births that remain for this address.',
        'RateLimit-Policy': 'The births that each address may have.',
      },
    },
  },
  errors: ['storage_unavailable'],
  async handle({ call }, home: Home) {
    mayCompress(call)
    const state = await allowanceOf(call, home)
    showState(call, state)
    const status = await statusOf(home, state.allowed)
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
