/** What an endpoint declares, and how declared endpoints are served. */
import type { z } from '@hono/zod-openapi'
import type { Context, Hono } from 'hono'
import { type ErrorCode, type Problem, problem } from '../errors.ts'
import { type Bindings, beginCall, type Call } from './call.ts'

export type Method = 'GET' | 'POST' | 'PATCH'

export interface Documented {
  readonly description: string
  readonly schema?: z.ZodType
  readonly mediaType?: string
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Everything `http/openapi.ts` needs; nothing here is read while serving. */
export interface EndpointDocs {
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly security?: readonly string[]
  readonly query?: z.ZodObject
  readonly params?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown }
  readonly responses: Readonly<Record<number, Documented>>
  readonly errors: readonly ErrorCode[]
}

export interface Route<Deps> {
  /** The route's name in metrics and logs. */
  readonly operationId: string
  readonly method: Method
  readonly path: string
  readonly handle: (call: Call, deps: Deps) => Response | Promise<Response>
}

/** A route that programs call: its operationId is the one in the OpenAPI document. */
export interface Endpoint<Deps> extends Route<Deps> {
  readonly docs: EndpointDocs
}

export interface Traffic {
  readonly newRequestId: () => string
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
  readonly observe: (call: Call, route: string, status: number, durationMs: number) => void
  /** The problem that something thrown stands for. */
  readonly explain: (error: unknown) => Problem
  /** A problem as the caller gets it. */
  readonly refuse: (call: Call, refusal: Problem) => Response | Promise<Response>
  readonly failed: (call: Call, error: unknown) => void
}

type Handle = (call: Call) => Response | Promise<Response>

const serve = (route: string, handle: Handle, traffic: Traffic) => async (c: Context) => {
  const startedAt = traffic.stopwatch()
  const call = beginCall(traffic.newRequestId(), c.req.raw, c.env as Bindings | undefined)
  let response: Response
  try {
    response = await handle(call)
  } catch (error) {
    response = await refused(call, error, traffic)
  }
  traffic.observe(call, route, response.status, traffic.stopwatch() - startedAt)
  // Hono answers HEAD with the headers alone; a body that nobody reads must let go of its source.
  if (call.request.method === 'HEAD') await response.body?.cancel()
  return response
}

async function refused(call: Call, error: unknown, traffic: Traffic): Promise<Response> {
  const response = await traffic.refuse(call, traffic.explain(error))
  if (response.status >= 500) traffic.failed(call, error)
  return response
}

const allowed = (methods: readonly Method[]): string =>
  [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')

/** Any other method on a known path. `options` answers OPTIONS, where the caller cares for it. */
const otherMethods =
  (allow: string, options?: (call: Call, allow: string) => Response): Handle =>
  (call) => {
    call.headers.Allow = allow
    if (call.request.method === 'OPTIONS' && options) return options(call, allow)
    throw problem('method_not_allowed')
  }

export function mount<Deps>(
  app: Hono,
  endpoints: readonly Route<Deps>[],
  deps: Deps,
  traffic: Traffic,
  options?: (call: Call, allow: string) => Response,
): void {
  // One handler for each path: with two that match, Hono composes them anew for every request.
  for (const [path, group] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const allow = allowed(group.map((endpoint) => endpoint.method))
    const other = serve('other', otherMethods(allow, options), traffic)
    const byMethod = new Map<string, ReturnType<typeof serve>>(
      group.map(({ method, operationId, handle }) => [
        method,
        serve(operationId, (call) => handle(call, deps), traffic),
      ]),
    )
    const get = byMethod.get('GET')
    if (get) byMethod.set('HEAD', get)
    app.all(path, (c) => (byMethod.get(c.req.method) ?? other)(c))
  }
}

export function mountFallbacks(app: Hono, traffic: Traffic): void {
  const nothingHere: Handle = () => {
    throw problem('not_found')
  }
  app.notFound(serve('unknown', nothingHere, traffic))
}
