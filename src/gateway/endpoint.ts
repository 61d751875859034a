/** What stands before every gateway endpoint: nobody is asked who they are. */
import { z } from '@hono/zod-openapi'
import type { ErrorCode } from '../errors.ts'
import { BODY_ERRORS, readJsonBytes } from '../http/body.ts'
import type { Answer, Call } from '../http/call.ts'
import { parseStrictJson } from '../http/json.ts'
import type { Documented, Endpoint } from '../pipeline/endpoint.ts'
import { openToAll } from '../pipeline/guards/open-to-all.ts'
import { validateBody, validateQuery } from '../pipeline/validate.ts'
import type { Gateway } from './gateway.ts'
import { BODY_MAX_BYTES } from './schemas.ts'

/** Parameters that an endpoint does not know are no filters, so they are let be. */
const anyQuery = z.object({})

export interface GatewayRequest<Q extends z.ZodObject, B extends z.ZodType> {
  readonly call: Call
  readonly query: z.output<Q>
  readonly body: z.output<B>
}

export interface GatewaySpec<Q extends z.ZodObject, B extends z.ZodType> {
  readonly operationId: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly query?: Q
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: B; readonly example: unknown }
  readonly responses: Readonly<Record<number, Documented>>
  /** Beside those that its body and query imply. */
  readonly errors?: readonly ErrorCode[]
  readonly handle: (request: GatewayRequest<Q, B>, gateway: Gateway) => Answer | Promise<Answer>
}

const EVERYWHERE: readonly ErrorCode[] = ['invalid_query', 'overloaded', 'storage_unavailable']

const docsOf = <Q extends z.ZodObject, B extends z.ZodType>(spec: GatewaySpec<Q, B>) => ({
  tag: 'Resonance gateway',
  summary: spec.summary,
  ...(spec.description && { description: spec.description }),
  ...(spec.query && { query: spec.query }),
  ...(spec.headers && { headers: spec.headers }),
  ...(spec.body && { body: spec.body }),
  responses: spec.responses,
  errors: [...EVERYWHERE, ...(spec.body ? BODY_ERRORS : []), ...(spec.errors ?? [])],
})

export function gatewayEndpoint<
  Q extends z.ZodObject = typeof anyQuery,
  B extends z.ZodType = z.ZodUndefined,
>(spec: GatewaySpec<Q, B>): Endpoint<Gateway> {
  const { operationId, method, path, query, body } = spec
  return {
    operationId,
    method,
    path,
    docs: docsOf(spec),
    async handle(call, gateway) {
      openToAll(call)
      // Read before the door, so that nobody stands in it while sending.
      const bytes = body && (await readJsonBytes(call, BODY_MAX_BYTES))
      const leave = await gateway.turnstile.enter()
      try {
        const asked = validateQuery(query ?? anyQuery, call) as z.output<Q>
        const sent = (bytes && validateBody(body.schema, parseStrictJson(bytes))) as z.output<B>
        return await spec.handle({ call, query: asked, body: sent }, gateway)
      } finally {
        leave()
      }
    },
  }
}
