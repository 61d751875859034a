/** Endpoint declarations -> the OpenAPI 3.1 document. */
import { z } from 'zod'
import { catalogue, type ErrorCode } from '../errors.ts'
import { nodeHttp } from '../http/node-http.ts'
import type { Documented, Endpoint } from './endpoint.ts'
import { type ResponseHeader, responseHeaders } from './guard.ts'
import { problemExample, problemSchema } from './problem.ts'

type Json = Readonly<Record<string, unknown>>

interface Converted {
  readonly zodSchema: z.core.$ZodTypes
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/** Leaves out of a published schema what is always true of JSON. */
export function simplify({ zodSchema, jsonSchema }: Converted): void {
  const { def } = zodSchema._zod
  // A response schema lists properties without excluding future ones.
  if (def.type === 'object' && !def.catchall) delete jsonSchema.additionalProperties
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  delete jsonSchema.propertyNames
}

const referring = (schema: unknown): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))

const sorted = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const mapped = <T, U>(
  record: Readonly<Record<string, T>>,
  of: (value: T) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]))

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

/** A problem with more members, by reference to what all problems have. */
function extending(base: ObjectSchema, schema: Json): Json {
  const { properties: ofProblem = {}, required: inProblem = [] } = base
  const { properties = {}, required = [], ...rest } = schema as ObjectSchema
  if (!Object.keys(ofProblem).every((name) => name in properties)) return schema
  const own = Object.entries(properties).filter(([name]) => !(name in ofProblem))
  const needed = required.filter((name) => !inProblem.includes(name))
  const more = { ...rest, properties: Object.fromEntries(own), required: needed }
  return { allOf: [{ $ref: '#/components/schemas/Problem' }, more] }
}

const textHeader = (description: string) => ({ description, schema: { type: 'string' } })

function createComponents() {
  const schemas = new Map<string, Json>()
  const headers = new Map<string, Json>()
  const examples = new Map<string, Json>()
  const parameters = new Map<string, Json>()
  const { $defs: { Problem } = {} } = z.toJSONSchema(problemSchema, { override: simplify })
  const base = referring(Problem)
  return {
    /** The schema, or a reference to it if it has an id. */
    schema(schema: z.ZodType, io: 'input' | 'output'): Json {
      const options = { io, unrepresentable: 'any', override: simplify } as const
      const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, options)
      for (const [id, def] of Object.entries($defs)) {
        schemas.set(id, id === 'Problem' ? base : extending(base, referring(def)))
      }
      return referring(own)
    },
    header(name: ResponseHeader): Json {
      headers.set(name, textHeader(responseHeaders[name]))
      return { $ref: `#/components/headers/${name}` }
    },
    /** What many operations take. */
    parameter(described: Json & { readonly name: string }): Json {
      parameters.set(described.name, described)
      return { $ref: `#/components/parameters/${described.name}` }
    },
    example(code: ErrorCode): Json {
      examples.set(code, { value: problemExample(code) })
      return { $ref: `#/components/examples/${code}` }
    },
    all: () => ({
      schemas: sorted(schemas),
      headers: sorted(headers),
      parameters: sorted(parameters),
      examples: sorted(examples),
    }),
  }
}

type Components = ReturnType<typeof createComponents>

type Described = Endpoint<never>

/** Errors that every operation can return. */
export const ANYWHERE = ['malformed_request', 'internal'] as const

/** Headers that any response may have: described once, in `x-response-headers`. */
const ANY_RESPONSE: readonly ResponseHeader[] = [
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Cache-Control',
  'Content-Encoding',
  'RateLimit',
  'RateLimit-Policy',
  'Vary',
  'X-Content-Type-Options',
  'X-Request-Id',
]

const errorHeaders: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

function headersOf(
  { header }: Components,
  { guards }: Described,
  status: number,
  own: Documented['headers'] = {},
) {
  const names = [...guards.flatMap(({ headers = [] }) => headers), ...(errorHeaders[status] ?? [])]
  const headers = {
    ...Object.fromEntries(
      names.filter((name) => !ANY_RESPONSE.includes(name)).map((name) => [name, header(name)]),
    ),
    ...mapped(own, textHeader),
  }
  return Object.keys(headers).length > 0 ? { headers } : {}
}

function success(components: Components, endpoint: Described, status: number, answer: Documented) {
  const { description, schema, mediaType = 'application/json', example, headers } = answer
  const texts = (answer.texts ?? []).map((type) => [type, { schema: { type: 'string' } }])
  const content = schema && {
    [mediaType]: { schema: components.schema(schema, 'output'), example },
    ...Object.fromEntries(texts),
  }
  return {
    description,
    ...headersOf(components, endpoint, status, headers),
    ...(content && { content }),
  }
}

/** Which codes it can have; examples of those that have members of their own. */
function failure(components: Components, endpoint: Described, codes: readonly ErrorCode[]) {
  const status: number = catalogue[codes[0] ?? 'internal'].status
  const { schema: own = problemSchema, mediaType, headers } = endpoint.answers?.[status] ?? {}
  // Beside problems there may be what a protocol has in their place.
  const schema = mediaType ? problemSchema : own
  const withMembers = codes.filter((code) => 'members' in catalogue[code])
  const examples = Object.fromEntries(withMembers.map((code) => [code, components.example(code)]))
  const ofCodes = { properties: { code: { enum: codes } } }
  return {
    description: nodeHttp.STATUS_CODES[status] ?? '',
    ...headersOf(components, endpoint, status, headers),
    content: {
      'application/problem+json': {
        schema: { allOf: [components.schema(schema, 'output'), ofCodes] },
        ...(withMembers.length > 0 && { examples }),
      },
      ...(mediaType && { [mediaType]: { schema: components.schema(own, 'output') } }),
    },
  }
}

function responsesOf(components: Components, endpoint: Described) {
  const codes = new Set<ErrorCode>([...endpoint.errors, ...ANYWHERE])
  const byStatus = Map.groupBy(codes, (code): number => catalogue[code].status)
  const answers = Object.entries(endpoint.answers ?? {})
    .map(([status, answer]) => [Number(status), answer] as const)
    .filter(([status]) => !byStatus.has(status))
  return Object.fromEntries([
    ...answers.map(([status, answer]) => [status, success(components, endpoint, status, answer)]),
    ...[...byStatus].map(([status, same]) => [status, failure(components, endpoint, same)]),
  ])
}

function parametersOf(
  components: Components,
  place: 'path' | 'query' | 'header',
  schema: z.ZodObject | undefined,
) {
  const shape: Readonly<Record<string, z.ZodType>> = schema?.shape ?? {}
  return Object.entries(shape).map(([name, value]) => {
    const { description, ...shown } = components.schema(value, 'input')
    return {
      name,
      in: place,
      ...(!value.safeParse(undefined).success && { required: true }),
      ...(description !== undefined && { description }),
      schema: shown,
    }
  })
}

function requestBodyOf(components: Components, { body, upload }: Described) {
  const sent = body ?? upload
  if (!sent) return {}
  const { schema, example } = sent
  const mediaType = upload?.mediaType ?? 'application/json'
  const content = { [mediaType]: { schema: components.schema(schema, 'input'), example } }
  return { requestBody: { required: true, content } }
}

/** The last guard with a security requirement is the strictest. */
const securityOf = ({ guards }: Described) =>
  (guards.findLast(({ security }) => security)?.security ?? []).map((name) => ({ [name]: [] }))

function operationOf(components: Components, endpoint: Described) {
  const { operationId, docs, guards, params, query } = endpoint
  const parameters = [
    ...parametersOf(components, 'path', params),
    ...parametersOf(components, 'query', query),
    ...parametersOf(components, 'header', docs?.headers),
    ...guards.flatMap(({ accepts }) =>
      parametersOf(components, 'header', accepts).map(components.parameter),
    ),
  ]
  return {
    operationId,
    summary: docs?.summary,
    description: docs?.description,
    tags: docs && [docs.tag],
    security: securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(components, endpoint),
    responses: responsesOf(components, endpoint),
  }
}

type Operation = ReturnType<typeof operationOf>

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

function pathsOf(components: Components, endpoints: readonly Described[]): Paths {
  const byPath = Object.groupBy(endpoints, ({ path }) => path.replace(/:(\w+)/g, '{$1}'))
  return mapped(byPath, (same = []) =>
    Object.fromEntries(
      same.map((endpoint) => [endpoint.method.toLowerCase(), operationOf(components, endpoint)]),
    ),
  )
}

/** Responses that several operations have are components. */
function sharing(paths: Paths): { readonly paths: Json; readonly responses: Json } {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const all = operations.flatMap(({ responses }) => Object.entries(responses))
  const groups = Map.groupBy(all, ([, response]) => JSON.stringify(response))
  const shared = [...groups].filter(([, { length }]) => length > 1)
  const names = new Map(shared.map(([text, [first]], at) => [text, `${first?.[0]}.${at}`]))
  const refer = (response: object): object => {
    const name = names.get(JSON.stringify(response))
    return name === undefined ? response : { $ref: `#/components/responses/${name}` }
  }
  const withReferences = (operation: Operation): object => ({
    ...operation,
    responses: mapped(operation.responses, refer),
  })
  return {
    paths: mapped(paths, (methods) => mapped(methods, withReferences)),
    responses: sorted(shared.map(([text]) => [names.get(text) ?? '', JSON.parse(text)])),
  }
}

/**
 * The parts of the document that follow from the endpoints. Only those for programs; endpoints
 * without `docs` are pages.
 */
export function describeEndpoints(endpoints: readonly Described[]) {
  const components = createComponents()
  const forPrograms = endpoints.filter(({ docs }) => docs)
  const { paths, responses } = sharing(pathsOf(components, forPrograms))
  return {
    paths,
    components: { ...components.all(), responses },
    'x-response-headers': Object.fromEntries(
      ANY_RESPONSE.map((name) => [name, responseHeaders[name]]),
    ),
  }
}
