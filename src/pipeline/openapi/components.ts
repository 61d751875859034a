/** What the OpenAPI document says once and refers to: schemas with an id, headers, examples. */
import { z } from 'zod'
import { catalogue, type ErrorCode } from '../../errors.ts'
import { type ResponseHeader, responseHeaders } from '../headers.ts'
import { problemExample } from '../problem.ts'

export type Json = Readonly<Record<string, unknown>>

interface Converted {
  readonly zodSchema: z.core.$ZodTypes
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/** An answer's schema says what is there, not that nothing else ever will be. */
function leaveOpen({ zodSchema, jsonSchema }: Converted): void {
  const { def } = zodSchema._zod
  if (def.type === 'object' && !def.catchall) delete jsonSchema.additionalProperties
}

/** What goes without saying in JSON. */
function leaveOut({ jsonSchema }: Converted): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
    delete jsonSchema.minimum
    delete jsonSchema.maximum
  }
  delete jsonSchema.propertyNames
}

const referring = (schema: unknown): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))

const sorted = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const exampleOf = (code: ErrorCode) => ({
  summary: catalogue[code].title,
  value: problemExample(code),
})

/** What schemas leave unsaid when they are published. */
export function simplify(converted: Converted): void {
  leaveOpen(converted)
  leaveOut(converted)
}

export interface Components {
  /** The schema, or a reference to it where it has an id. */
  readonly schema: (schema: z.ZodType, io: 'input' | 'output') => Json
  readonly header: (name: ResponseHeader) => Json
  /** What a refusal looks like. */
  readonly example: (code: ErrorCode) => Json
  readonly all: () => Json
}

export function createComponents(): Components {
  const schemas = new Map<string, Json>()
  const headers = new Map<string, Json>()
  const examples = new Map<string, Json>()
  return {
    schema(schema, io) {
      const options = { io, unrepresentable: 'any', override: simplify } as const
      const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, options)
      for (const [id, named] of Object.entries($defs)) schemas.set(id, referring(named))
      return referring(own)
    },
    header(name) {
      headers.set(name, { description: responseHeaders[name], schema: { type: 'string' } })
      return { $ref: `#/components/headers/${name}` }
    },
    example(code) {
      examples.set(code, exampleOf(code))
      return { $ref: `#/components/examples/${code}` }
    },
    all: () => ({ schemas: sorted(schemas), headers: sorted(headers), examples: sorted(examples) }),
  }
}
