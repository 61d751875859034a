/** What a tool takes: the schema that clients get, and the arguments that they send. */
import { z } from 'zod'
import { parseStrictJson } from '../http/json.ts'
import { WrittenNumber } from '../json/decimals.ts'
import { membersOf } from '../json/members.ts'
import { simplify } from '../pipeline/openapi.ts'
import type { Message } from './message.ts'
import type { Tool } from './tools/tool.ts'

/** Schema metadata without the ids that documents use for references. */
class WithoutNames extends z.core.$ZodRegistry<z.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S) {
    const { id: _, ...rest } = z.globalRegistry.get(schema) ?? {}
    return rest as ReturnType<typeof z.globalRegistry.get<S>>
  }
}

const metadata = new WithoutNames()

/**
 * What some client refuses, and what no model uses: each client sends all of it to its model with
 * every request. The server validates all of it.
 */
const LEFT_OUT = [
  ...['additionalProperties', 'pattern', 'format', 'example'],
  ...['minLength', 'maxLength', 'minimum'],
]

const override: typeof simplify = (converted) => {
  simplify(converted)
  const { jsonSchema } = converted
  for (const name of LEFT_OUT) delete jsonSchema[name]
  if (!jsonSchema.default) delete jsonSchema.default
}

export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, { readonly type: string }>>
  readonly required?: string[]
}

const schemas = new WeakMap<Tool, InputSchema>()

/** Without references: clients want an object at the root, and not all resolve references. */
export function inputSchemaOf(tool: Tool): InputSchema {
  const known = schemas.get(tool)
  if (known) return known
  const { $schema: _, ...lean } = z.toJSONSchema(tool.input, { io: 'input', metadata, override })
  const made = lean as unknown as InputSchema
  schemas.set(tool, made)
  return made
}

/** The names of a tool's arguments, for a client that sent others. */
export function takenBy(tool: Tool): string {
  const { properties, required = [] } = inputSchemaOf(tool)
  const names = Object.keys(properties).map((each) =>
    required.includes(each) ? each : `${each} (optional)`,
  )
  return `${tool.name} takes ${names.join(', ')}.`
}

function typeOf(value: unknown): string {
  if (typeof value === 'number' || value instanceof WrittenNumber) return 'integer'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The JSON in a string that stands for a number, a boolean or an object. */
function unquoted(tool: Tool, name: string, sent: unknown): string | undefined {
  const { properties } = inputSchemaOf(tool)
  const wanted = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
  if (typeof sent !== 'string' || wanted === undefined || wanted === 'string') return undefined
  try {
    return typeOf(parseStrictJson(sent)) === wanted ? sent : undefined
  } catch {
    // It is told as what it is, a string.
    return undefined
  }
}

/**
 * The arguments of a call, parsed and as JSON. Libraries fill with null what a model leaves out, and
 * hosts send numbers, booleans and objects as strings; no argument means anything else by either.
 */
export function argumentsOf({ body, source, params }: Message, tool: Tool) {
  const place = params.get('arguments')
  const value = body.params?.arguments ?? {}
  const sent = { value, source: place ? source.slice(place.from, place.to) : '{}' }
  if (typeof value !== 'object' || Array.isArray(value)) return sent
  const entries = Object.entries(value)
  const meant = new Map(entries.map(([name, each]) => [name, unquoted(tool, name, each)]))
  if (entries.every(([name, each]) => each !== null && meant.get(name) === undefined)) return sent
  const written = membersOf(sent.source)
  const kept = entries.filter(([, each]) => each !== null)
  const members = kept.map(([name]) => {
    return `${JSON.stringify(name)}:${meant.get(name) ?? written.get(name)}`
  })
  const json = `{${members.join()}}`
  // Strict as a whole: what was in strings counts towards the same limits.
  return { value: parseStrictJson(json), source: json }
}
