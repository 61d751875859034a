import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CatalogueEntry, catalogue, type ErrorCode } from '../src/errors.ts'
import { homeEndpoints } from '../src/home/index.ts'
import { embedded, openService, type TestService } from './harness.ts'
import { proves } from './requirements.ts'

/** Of the description, for each operation. */
const MOST_BYTES = 3_000

interface Example {
  readonly $ref?: string
  readonly value?: unknown
}

interface Refusing {
  readonly properties: { readonly code: { readonly enum: readonly ErrorCode[] } }
}

interface Content {
  readonly schema?: { readonly allOf?: readonly [object, Refusing] }
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Example>>
}

interface Described {
  readonly operationId: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string
        readonly content?: Readonly<Record<string, Content>>
        readonly headers?: object
      }
    >
  >
}

interface Description {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

/** The interface's table of status codes, which the description must list at least for its own. */
const interfaceCodes: Readonly<Record<string, readonly number[]>> = {
  previewAgent: [200],
  birthAgent: [200, 201, 400, 401, 403, 409, 429, 503],
  readProfile: [200, 400, 401, 403, 429, 503],
  setStatus: [200, 400, 401, 403, 429, 503],
  readMemory: [200, 400, 401, 403, 404, 429, 503],
  writeMemory: [200, 400, 401, 403, 409, 413, 429, 503],
  searchMemories: [200, 400, 401, 403, 429, 503],
  readContext: [200, 400, 401, 403, 429, 503],
  exportMemories: [200, 400, 401, 403, 429, 503],
  rotateAgentKey: [200, 400, 401, 403, 429, 503],
  listNamedKeys: [200, 400, 401, 403, 429, 503],
  createNamedKey: [201, 400, 401, 403, 413, 415, 429, 503],
  endNamedKey: [200, 400, 401, 403, 404, 429, 503],
  replaceOperatorKey: [200, 400, 401, 403, 429, 503],
  changeProfile: [200, 400, 401, 403, 413, 415, 429, 503],
  importMemories: [200, 400, 401, 403, 409, 413, 415, 429, 503],
  eraseAgent: [200, 400, 401, 403, 413, 415, 429, 503],
}

const ofTheInterface = [
  'GET /api/agents/me',
  'GET /api/agents/me/export',
  'GET /api/agents/me/memory',
  'GET /api/agents/preview',
  'PATCH /api/agents/me',
  'POST /api/agents/birth',
  'POST /api/agents/me/keys',
  'POST /api/agents/me/memory',
]

const ours = [
  'DELETE /api/agents/me/keys/{id}',
  'DELETE /api/agents/me/memory',
  'GET /api/agents/me/context',
  'GET /api/agents/me/events',
  'GET /api/agents/me/events/stream',
  'GET /api/agents/me/keys',
  'GET /api/agents/me/memories',
  'GET /api/agents/me/head',
  'GET /api/agents/me/memories/search',
  'GET /api/agents/me/memory/versions',
  'PATCH /api/agents/me/memory',
  'PATCH /api/agents/me/profile',
  'POST /api/agents/me/batch',
  'POST /api/agents/me/erase',
  'POST /api/agents/me/import',
  'POST /api/agents/me/keys/named',
  'POST /api/agents/me/memory/append',
  'POST /api/agents/me/memory/edit',
  'POST /api/agents/me/memory/erase',
  'POST /api/agents/me/memory/protect',
  'POST /api/agents/me/memory/restore',
  'POST /api/agents/me/operator-keys',
  'POST /api/agents/me/rollback',
  'POST /api/agents/me/memories/vectors',
  'POST /api/agents/me/memories/search',
  'POST /api/agents/me/context',
]

/** What these tell beside what every problem tells. */
const telling: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  readMemory: { 404: 'MemoryNotFound' },
  writeMemory: { 409: 'VersionConflict' },
  patchMemory: { 409: 'VersionConflict' },
  deleteMemory: { 404: 'MemoryNotFound', 409: 'VersionConflict' },
  appendToMemory: { 409: 'AppendConflict', 413: 'TextTooLarge' },
  editMemory: { 404: 'MemoryNotFound', 409: 'EditConflict', 413: 'TextTooLarge' },
  protectMemory: { 404: 'MemoryNotFound' },
  eraseMemory: { 404: 'MemoryNotFound' },
  restoreMemory: { 409: 'VersionConflict' },
  changeMemories: { 409: 'BatchConflict' },
  importMemories: { 409: 'ImportConflict' },
}

/** What MCP and OAuth have their own form for. */
const ofMcp = ['serveMcp 404', 'issueToken 401', 'revokeToken 401']

describe('the OpenAPI description', () => {
  let service: TestService
  let source: string
  let description: Description
  beforeAll(async () => {
    service = await openService(embedded)
    const answer = await service.call('GET', '/openapi.json')
    source = answer.text
    description = JSON.parse(source) as Description
  })
  afterAll(() => service.close())

  /** With the responses that are referred to. */
  const operations = () =>
    Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...{ path, method, ...operation },
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, response]) => [
            status,
            response.$ref ? (described(response.$ref) as typeof response) : response,
          ]),
        ),
      })),
    )

  /** What a reference within the document refers to. */
  const described = (ref: string): Example =>
    ref
      .split('/')
      .slice(1)
      .reduce((found: unknown, key) => Reflect.get(Object(found), key), description) as Example

  const named = (operationId: string) => {
    const found = operations().find((operation) => operation.operationId === operationId)
    if (!found) throw new Error(`${operationId} is not described`)
    return found
  }

  test('is OpenAPI 3.1, for version 1.0.0 of the interface', proves('versioning.interface'), () => {
    expect(description.openapi).toBe('3.1.0')
    expect(description.info.version).toBe('1.0.0')
  })

  test('is short enough to be read by whoever calls: a budget for each operation', () => {
    const operations = Object.values(description.paths).flatMap((path) => Object.keys(path ?? {}))
    expect(operations.length).toBeGreaterThan(40)
    expect(Buffer.byteLength(source) / operations.length).toBeLessThanOrEqual(MOST_BYTES)
  })

  test('lints clean with the recommended rules, its examples among them', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        'no-invalid-media-type-examples': 'error',
        'no-invalid-schema-examples': 'error',
        'no-invalid-parameter-examples': 'error',
      },
    })
    const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
    expect(
      problems.map(({ ruleId, message, location }) => {
        return `${ruleId}: ${message} (${location.map(({ pointer }) => pointer).join()})`
      }),
    ).toEqual([])
  })

  test('the linter finds a fault where there is one', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const broken = source.replace('"operationId":"birthAgent"', '"operationId":"readProfile"')
    const problems = await lintFromString({ source: broken, config, absoluteRef: 'openapi.json' })
    expect(problems.map(({ ruleId }) => ruleId)).toContain('operation-operationId-unique')
  })

  test(
    'the home is its eight operations and ours beside: no payment, model, e-mail inbox or heartbeat',
    proves('service.nothing-else', 'versioning.paths'),
    () => {
      const home = operations().filter(({ path }) => path.startsWith('/api/agents'))
      const lines = home.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      expect(lines.toSorted()).toEqual([...ofTheInterface, ...ours].toSorted())
      expect(lines.filter((line) => /\/v\d/.test(line))).toEqual([])
    },
  )

  test.each(Object.entries(interfaceCodes))(
    '%s lists every status code of the interface',
    (operationId, codes) => {
      const listed = Object.keys(named(operationId).responses).map(Number)
      expect(listed).toEqual(expect.arrayContaining([...codes]))
    },
  )

  test('the interface has codes for each of its eight operations', () => {
    const known = homeEndpoints.filter(({ operationId }) => operationId in interfaceCodes)
    const paths = known.map(({ method, path }) => `${method} ${path}`)
    expect(paths).toEqual(expect.arrayContaining(ofTheInterface))
  })

  test('every refusal is a problem with its codes, and an example of what only one of them has', () => {
    const seen = new Set<string>()
    for (const { operationId, responses } of operations()) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400 || ofMcp.includes(`${operationId} ${status}`)) continue
        const { schema, examples = {} } = content?.['application/problem+json'] ?? {}
        const name = telling[operationId]?.[status]
        const codes = schema?.allOf?.[1]?.properties.code.enum ?? []
        expect(schema, operationId).toEqual({
          allOf: [
            { $ref: `#/components/schemas/${name ?? 'Problem'}` },
            { properties: { code: { enum: codes } } },
          ],
        })
        expect(codes, operationId).not.toHaveLength(0)
        for (const code of codes) {
          const { status: its, members }: CatalogueEntry = catalogue[code]
          expect(its).toBe(Number(status))
          expect(code in examples, code).toBe(members !== undefined)
          seen.add(code)
        }
        for (const [code, example] of Object.entries(examples)) {
          const { value } = example.$ref ? described(example.$ref) : example
          expect(value).toMatchObject({ code, status: Number(status), type: `/problems/${code}` })
        }
      }
    }
    expect(seen.size).toBeGreaterThan(25)
  })

  test('every body of a request and of a success has a schema and an example', () => {
    for (const { path, operationId, requestBody, responses } of operations()) {
      if (!path.startsWith('/api/agents')) continue
      for (const content of Object.values(requestBody?.content ?? {})) {
        expect(content, operationId).toMatchObject({ schema: expect.anything() })
        expect(content.example, operationId).toBeDefined()
      }
      for (const [status, { content }] of Object.entries(responses)) {
        if (!status.startsWith('2')) continue
        const [shown] = Object.values(content ?? {})
        expect(shown?.schema, operationId).toBeDefined()
        expect(shown?.example, operationId).toBeDefined()
      }
    }
  })

  test('refusals that say when to come again, or how to prove oneself, describe the header', () => {
    const required: Readonly<Record<string, string>> = {
      401: 'WWW-Authenticate',
      429: 'Retry-After',
      503: 'Retry-After',
    }
    for (const { operationId, responses } of operations()) {
      for (const [status, name] of Object.entries(required)) {
        if (responses[status]) {
          expect(responses[status].headers, `${operationId} ${status}`).toHaveProperty(name)
        }
      }
    }
  })

  test('operations that take a token say which, and the others say none', () => {
    expect(named('rotateAgentKey').security).toEqual([{ operatorKey: [] }])
    expect(named('setStatus').security).toEqual([{ operatorKey: [] }])
    expect(named('readMemory').security).toEqual([{ agentKey: [] }, { operatorKey: [] }])
    expect(named('birthAgent').security).toEqual([])
  })

  test('every problem has a page at its type', async () => {
    for (const [code, { status, title }] of Object.entries(catalogue)) {
      const page = await service.call('GET', `/problems/${code}`)
      expect(page.status).toBe(200)
      expect(page.body).toMatchObject({ code, status, title })
    }
    expect((await service.call('GET', '/problems/toString')).status).toBe(404)
  })
})
