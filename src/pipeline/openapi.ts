/** Endpoint declarations -> the OpenAPI 3.1 document. */
import { OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import { catalogue, type ErrorCode } from '../errors.ts'
import type { Documented, Endpoint, EndpointDocs } from './endpoint.ts'
import { problemBody } from './problem.ts'

const problemSchema = z
  .object({
    type: z.string().openapi({ description: 'A page about this kind of problem.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: 'What went wrong and what to do next.' }),
    instance: z.string().openapi({ description: 'The request id, also in X-Request-Id.' }),
    code: z.string().openapi({ description: 'Stable and machine-readable.' }),
    errors: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: 'For 400: each fault with its JSON pointer.' }),
  })
  .loose()
  .openapi('Problem')

type Responses = RouteConfig['responses']

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' as const } },
    ]),
  )

function success({ description, schema, mediaType, example, headers }: Documented) {
  const content = schema && { [mediaType ?? 'application/json']: { schema, example } }
  return {
    description,
    ...(content && { content }),
    ...(headers && { headers: headersOf(headers) }),
  }
}

const errorHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': 'The challenge of RFC 6750.' },
  429: { 'Retry-After': 'Seconds to wait.' },
  503: { 'Retry-After': 'Seconds to wait.' },
}

function failure(codes: readonly ErrorCode[]) {
  const status = catalogue[codes[0] ?? 'internal'].status
  const examples = Object.fromEntries(
    codes.map((code) => [
      code,
      { summary: catalogue[code].title, value: problemBody(code, catalogue[code].detail, 'r1-1') },
    ]),
  )
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].title}`).join('; '),
    content: { 'application/problem+json': { schema: problemSchema, examples } },
    ...(errorHeaders[status] && { headers: headersOf(errorHeaders[status]) }),
  }
}

/** What any operation may answer, whatever it declares. */
const ANYWHERE = ['malformed_request', 'internal'] as const

function responsesOf(docs: EndpointDocs): Responses {
  const codes = new Set<ErrorCode>([...docs.errors, ...ANYWHERE])
  const byStatus = Map.groupBy(codes, (code) => String(catalogue[code].status))
  return Object.fromEntries([
    ...Object.entries(docs.responses).map(([status, shown]) => [status, success(shown)]),
    ...[...byStatus].map(([status, codes]) => [status, failure(codes)]),
  ])
}

const requestOf = ({ query, params, headers, body }: EndpointDocs): RouteConfig['request'] => ({
  ...(query && { query }),
  ...(params && { params }),
  ...(headers && { headers }),
  ...(body && {
    body: {
      required: true,
      content: { 'application/json': { schema: body.schema, example: body.example } },
    },
  }),
})

const routeOf = ({ operationId, method, path, docs }: Endpoint<never>): RouteConfig => ({
  operationId,
  method: method.toLowerCase() as Lowercase<typeof method>,
  path: path.replace(/:(\w+)/g, '{$1}'),
  summary: docs.summary,
  ...(docs.description && { description: docs.description }),
  tags: [docs.tag],
  security: (docs.security ?? []).map((scheme) => ({ [scheme]: [] })),
  request: requestOf(docs) ?? {},
  responses: responsesOf(docs),
})

export interface ApiDescription {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly serverUrl: string
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly securitySchemes: Readonly<
    Record<string, { type: 'http'; scheme: 'bearer'; description: string }>
  >
}

export function describeApi(endpoints: readonly Endpoint<never>[], api: ApiDescription) {
  const docs = new OpenAPIHono()
  for (const endpoint of endpoints) docs.openAPIRegistry.registerPath(routeOf(endpoint))
  for (const [name, scheme] of Object.entries(api.securitySchemes)) {
    docs.openAPIRegistry.registerComponent('securitySchemes', name, scheme)
  }
  return docs.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: api.serverUrl }],
    tags: [...api.tags],
  })
}
