/** Every answer that a test sees is held to the OpenAPI description that the service gives. */
import type { App } from '../src/app.ts'
import type { ErrorCode } from '../src/errors.ts'
import type { Endpoint } from '../src/pipeline/endpoint.ts'
import { ANYWHERE } from '../src/pipeline/openapi.ts'
import { endpointOf } from './endpoints.ts'
import { ask } from './harness.ts'

type Methods = Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>

interface Known {
  readonly endpoints: readonly Described[]
  readonly description: Description
}

interface Described {
  readonly pattern: RegExp
  readonly methods: Methods
}

interface Response {
  readonly $ref?: string
  readonly headers?: Readonly<Record<string, object>>
}

interface Description {
  readonly paths: Readonly<Record<string, Methods>>
  readonly components: { readonly responses: Readonly<Record<string, Response>> }
  /** Of any response. */
  readonly 'x-response-headers': Readonly<Record<string, string>>
}

/** Said by the media type and by HTTP itself. */
const UNSAID = ['content-type', 'content-length', 'connection']

const undescribed = (described: object, given: Headers): string[] => {
  // What a browser gets in the place of JSON is a page, and keeps itself to itself.
  if (given.get('content-type')?.startsWith('text/html')) return []
  const known = [...UNSAID, ...Object.keys(described).map((name) => name.toLowerCase())]
  return [...given.keys()].filter((name) => !known.includes(name))
}

let described: Promise<Known> | undefined

/** Each path, by what is asked for under it. */
async function describe(app: App): Promise<Known> {
  const { body } = await ask(app, 'GET', '/openapi.json')
  const description = body as unknown as Description
  const endpoints = Object.entries(description.paths).map(([template, methods]) => ({
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
    methods,
  }))
  return { endpoints, description }
}

/** The headers that a response may have. */
function headersOf({ $ref, headers }: Response, description: Description): object {
  const name = $ref?.split('/').at(-1) ?? ''
  const shared = description.components.responses[name]?.headers
  return { ...headers, ...shared, ...description['x-response-headers'] }
}

/** A refusal's code is one that the endpoint declares; any other body has the declared shape. */
function checkBody(endpoint: Endpoint<never>, { status, headers, body }: Answered): void {
  const { schema, mediaType } = endpoint.answers?.[status] ?? {}
  if (headers.get('content-type') === 'application/problem+json') {
    const { code } = body as { code: ErrorCode }
    const declared: readonly ErrorCode[] = [...endpoint.errors, ...ANYWHERE]
    if (!declared.includes(code))
      throw new Error(`${endpoint.operationId} does not declare ${code}`)
  }
  const type = headers.get('content-type')
  const isProblem = mediaType !== undefined && type === 'application/problem+json'
  if (type?.includes('json') && !isProblem) schema?.parse(body)
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Throws when an answer lacks what all have, or its status, shape or headers are not as described. */
export async function checkDocumented(
  app: App,
  method: string,
  url: string,
  { status, headers, body }: Answered,
): Promise<void> {
  if (!headers.has('x-request-id') || headers.get('x-content-type-options') !== 'nosniff') {
    throw new Error(`${method} ${url} answered ${status} without X-Request-Id or nosniff`)
  }
  const [path = ''] = url.split('?')
  described ??= describe(app)
  const { endpoints, description } = await described
  const found = endpoints.find(({ pattern }) => pattern.test(path))
  const endpoint = endpointOf(method, path)
  if (endpoint && method !== 'HEAD') checkBody(endpoint, { status, headers, body })
  const responses = found?.methods[method.toLowerCase()]?.responses
  if (!responses) return
  const listed = responses[status]
  if (!listed) {
    throw new Error(`${method} ${path} answered ${status}, which /openapi.json does not list`)
  }
  const strays = undescribed(headersOf(listed, description), headers)
  if (strays.length > 0) {
    throw new Error(`${method} ${path} answered ${status} with ${strays}, which is not described`)
  }
}
