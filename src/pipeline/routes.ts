/** Serves declared endpoints: routing, other methods, and hooks for every request. */
import { type Problem, problem } from '../errors.ts'
import {
  type Answer,
  beginCall,
  type Call,
  type Incoming,
  type PathParams,
  type TextStream,
} from '../http/call.ts'
import { requireReadable } from '../http/readable.ts'
import type { Endpoint } from './endpoint.ts'
import type { Guard } from './guard.ts'

export interface Hooks {
  readonly newRequestId: () => string
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
  readonly observe: (call: Call, route: string, status: number, durationMs: number) => void
  /** Maps a thrown error to a problem. */
  readonly explain: (error: unknown) => Problem
  /** The response for a problem. */
  readonly refuse: (call: Call, refusal: Problem) => Answer | Promise<Answer>
  readonly failed: (call: Call, error: unknown) => void
  /** A response that failed after its first byte. */
  readonly brokeOff: (call: Call, error: unknown) => void
}

type Handle = (call: Call) => Answer | Promise<Answer>

/** A route's work for one request. Never rejects. */
type ServeRoute = (incoming: Incoming, params: PathParams) => Promise<Answer>

const serveWith =
  (route: string, handle: Handle, hooks: Hooks): ServeRoute =>
  async (incoming, params) => {
    const startedAt = hooks.stopwatch()
    const call = beginCall(hooks.newRequestId(), incoming, params)
    let given: Answer
    try {
      requireReadable(incoming)
      given = await handle(call)
    } catch (error) {
      given = await refused(call, error, hooks)
    }
    hooks.observe(call, route, given.status, hooks.stopwatch() - startedAt)
    return given.body === null || typeof given.body === 'string'
      ? given
      : { ...given, body: watched(call, given.body, hooks) }
  }

async function refused(call: Call, error: unknown, hooks: Hooks): Promise<Answer> {
  const given = await hooks.refuse(call, hooks.explain(error))
  if (given.status >= 500) hooks.failed(call, error)
  return given
}

/** A failure after the first byte can only be logged. */
function watched(call: Call, { pieces, ...stream }: TextStream, hooks: Hooks): TextStream | null {
  if (call.method === 'HEAD') {
    stream.close()
    return null
  }
  async function* sent() {
    try {
      yield* pieces
    } catch (error) {
      hooks.brokeOff(call, error)
      throw error
    }
  }
  return { ...stream, pieces: sent() }
}

/** Other methods on a known path. OPTIONS is answered by the CORS guard. */
function otherMethods<Deps>(endpoints: readonly Endpoint<Deps>[], deps: Deps): Handle {
  const methods = endpoints.map(({ method }) => method)
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
  const guards = endpoints.flatMap((endpoint) => endpoint.guards)
  const asked = guards.find((guard) => guard.preflight !== undefined) as
    | Guard<Deps, object, void>
    | undefined
  return (call) => {
    call.responseHeaders.Allow = allow
    if (call.method === 'OPTIONS' && asked?.preflight) return asked.preflight(call, deps, allow)
    throw problem('method_not_allowed')
  }
}

/** The guards' headers for errors of other methods, and before any guard has run. */
function refusingAsGuarded<Deps>(endpoints: readonly Endpoint<Deps>[], hooks: Hooks): Hooks {
  const marks = new Set(
    endpoints.flatMap(({ guards }) => guards.flatMap(({ onRefusal }) => onRefusal ?? [])),
  )
  if (marks.size === 0) return hooks
  return {
    ...hooks,
    refuse(call, refused) {
      for (const mark of marks) mark(call)
      return hooks.refuse(call, refused)
    },
  }
}

const NO_PARAMS: PathParams = Object.freeze({})

/** Finds the target of a path. `:name` is a parameter of one segment. */
function createRouter<Target>() {
  const fixed = new Map<string, { readonly target: Target; readonly params: PathParams }>()
  const named: { readonly pattern: RegExp; readonly target: Target }[] = []

  function match(path: string) {
    for (const { pattern, target } of named) {
      const params = pattern.exec(path)?.groups
      if (params) return { target, params }
    }
    return undefined
  }

  return {
    add(path: string, target: Target): void {
      if (!path.includes(':')) fixed.set(path, { target, params: NO_PARAMS })
      else {
        const pattern = new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
        named.push({ pattern, target })
      }
    },
    find: (path: string) => fixed.get(path) ?? match(path),
  }
}

const nothingHere = (): never => {
  throw problem('not_found')
}

/** `elsewhere` is called for unknown paths. */
export function createRoutes(elsewhere: (path: string) => Hooks) {
  const router = createRouter<ServeRoute>()
  return {
    mount<Deps>(endpoints: readonly Endpoint<Deps>[], deps: Deps, hooks: Hooks): void {
      for (const [path, group] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
        const own = refusingAsGuarded(group, hooks)
        const other = serveWith('other', otherMethods(group, deps), own)
        const byMethod = new Map<string, ServeRoute>(
          group.map(({ method, operationId, serve }) => [
            method,
            serveWith(operationId, (call) => serve(call, deps), own),
          ]),
        )
        const get = byMethod.get('GET')
        if (get) byMethod.set('HEAD', get)
        const target: ServeRoute = (incoming, params) =>
          (byMethod.get(incoming.method) ?? other)(incoming, params)
        router.add(path, target)
        for (const { alsoAt } of group) if (alsoAt !== undefined) router.add(alsoAt, target)
      }
    },
    serve(incoming: Incoming): Promise<Answer> {
      const found = router.find(incoming.path)
      if (found) return found.target(incoming, found.params)
      return serveWith('unknown', nothingHere, elsewhere(incoming.path))(incoming, {})
    },
  }
}
