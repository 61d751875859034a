/** What an endpoint declares, and how declared endpoints are served. */
import type { z } from '@hono/zod-openapi'
import { type ErrorCode, type Problem, problem } from '../errors.ts'
import { type Answer, beginCall, type Call, type Incoming, type TextStream } from '../http/call.ts'
import { createRouter } from '../http/router.ts'

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
  readonly handle: (call: Call, deps: Deps) => Answer | Promise<Answer>
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
  readonly refuse: (call: Call, refusal: Problem) => Answer | Promise<Answer>
  readonly failed: (call: Call, error: unknown) => void
}

type Handle = (call: Call) => Answer | Promise<Answer>

/** Answers a request. Never rejects. */
export type Serve = (incoming: Incoming) => Promise<Answer>

const serveWith =
  (route: string, handle: Handle, traffic: Traffic): Serve =>
  async (incoming) => {
    const startedAt = traffic.stopwatch()
    const call = beginCall(traffic.newRequestId(), incoming)
    let given: Answer
    try {
      given = await handle(call)
    } catch (error) {
      given = await refused(call, error, traffic)
    }
    traffic.observe(call, route, given.status, traffic.stopwatch() - startedAt)
    return given.body === null || typeof given.body === 'string'
      ? given
      : { ...given, body: watched(call, given.body, traffic) }
  }

async function refused(call: Call, error: unknown, traffic: Traffic): Promise<Answer> {
  const given = await traffic.refuse(call, traffic.explain(error))
  if (given.status >= 500) traffic.failed(call, error)
  return given
}

/** What breaks after the first byte can only be told to the log. */
function watched(call: Call, { pieces, close }: TextStream, traffic: Traffic): TextStream | null {
  if (call.method === 'HEAD') {
    close()
    return null
  }
  async function* sent() {
    try {
      yield* pieces
    } catch (error) {
      traffic.failed(call, error)
      throw error
    }
  }
  return { pieces: sent(), close }
}

const allowed = (methods: readonly Method[]): string =>
  [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')

/** Any other method on a known path. `options` answers OPTIONS, where the caller cares for it. */
const otherMethods =
  (allow: string, options?: (call: Call, allow: string) => Answer): Handle =>
  (call) => {
    call.responseHeaders.Allow = allow
    if (call.method === 'OPTIONS' && options) return options(call, allow)
    throw problem('method_not_allowed')
  }

export interface Routes {
  readonly mount: <Deps>(
    endpoints: readonly Route<Deps>[],
    deps: Deps,
    traffic: Traffic,
    options?: (call: Call, allow: string) => Answer,
  ) => void
  readonly serve: Serve
}

/** `elsewhere` is told of requests for paths that nobody serves. */
export function createRoutes(elsewhere: Traffic): Routes {
  const router = createRouter<Serve>()
  const nothingHere = serveWith(
    'unknown',
    () => {
      throw problem('not_found')
    },
    elsewhere,
  )
  return {
    mount(endpoints, deps, traffic, options) {
      for (const [path, group] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
        const allow = allowed(group.map((endpoint) => endpoint.method))
        const other = serveWith('other', otherMethods(allow, options), traffic)
        const byMethod = new Map<string, Serve>(
          group.map(({ method, operationId, handle }) => [
            method,
            serveWith(operationId, (call) => handle(call, deps), traffic),
          ]),
        )
        const get = byMethod.get('GET')
        if (get) byMethod.set('HEAD', get)
        router.add(path, (incoming) => (byMethod.get(incoming.method) ?? other)(incoming))
      }
    },
    serve: (incoming) => (router.find(incoming.path) ?? nothingHere)(incoming),
  }
}
