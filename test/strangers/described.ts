/** Requests of every kind for what an OpenAPI description describes: right ones, and almost right. */
import fc from 'fast-check'
import { anyValue, oddBody, oddText, spell } from './odd.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly maxProperties?: number
  readonly items?: Schema
  readonly maxItems?: number
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Attempt {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** What the body's JSON says, where it is an object of ours. */
  readonly value: Readonly<Record<string, unknown>> | undefined
  readonly body: string | undefined
  readonly credential: 'none' | 'agent' | 'operator' | 'junk'
}

/** What attempts are made from. */
interface Source {
  readonly all: Description
  /** Nothing odd is in them: of many parts, one that is wrong would be enough. */
  readonly careful: boolean
}

const mostly = <Value>(
  { careful }: Source,
  right: fc.Arbitrary<Value>,
  odd: fc.Arbitrary<Value>,
): fc.Arbitrary<Value> => (careful ? right : fc.oneof({ weight: 4, arbitrary: right }, odd))

const texts = ({ minLength = 0, maxLength = 200 }: Schema, source: Source) =>
  mostly(
    source,
    fc.string({ unit: 'grapheme-composite', minLength, maxLength: Math.min(maxLength, 200) }),
    oddText,
  )

const plainValue = fc.oneof(fc.integer(), fc.string(), fc.boolean())

const objects = (source: Source) =>
  mostly<unknown>(
    source,
    fc.dictionary(fc.string(), plainValue, { maxKeys: 3 }),
    fc.dictionary(oddText, anyValue),
  )

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.emailAddress(),
  uuid: fc.uuid(),
}

/** Few, so that requests are often about what others have left. */
const NAMES = [...'abcdefghijklmnopqrstuvwxyz']

function matching(pattern: RegExp): fc.Arbitrary<string> {
  const any = fc.stringMatching(pattern)
  const names = NAMES.filter((name) => pattern.test(name))
  return names.length > 0 ? fc.oneof(any, fc.constantFrom(...names)) : any
}

function stringsOf(schema: Schema, source: Source): fc.Arbitrary<unknown> {
  if (schema.pattern) return matching(new RegExp(schema.pattern))
  if (schema.examples)
    return mostly<unknown>(source, fc.constantFrom(...schema.examples), texts(schema, source))
  return formats[schema.format ?? ''] ?? texts(schema, source)
}

/** Values that fit, or nearly: of text, only the length is known. */
function fitting(schema: Schema, source: Source): fc.Arbitrary<unknown> {
  const of = (inner: Schema) => fitting(inner, source)
  if (schema.$ref)
    return of(source.all.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(of))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.type === 'string') return stringsOf(schema, source)
  if (schema.type === 'integer')
    return fc.integer({ min: 0, max: Math.min(schema.maximum ?? 3, 3) })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') {
    return fc.array(of(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 5, 5) })
  }
  if (!schema.properties)
    return schema.type === 'object' ? objects(source) : mostly(source, plainValue, anyValue)
  const members = Object.entries(schema.properties).map(([name, own]) => [name, of(own)] as const)
  if (schema.maxProperties === 1) {
    return fc.oneof(...members.map(([name, value]) => fc.record({ [name]: value })))
  }
  return fc.record(Object.fromEntries(members), {
    requiredKeys: [...(schema.required ?? [])] as never[],
  })
}

/** One member of it is another value, or is there and should not be. */
const spoilt = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(value, fc.nat(9), oddText, anyValue)
    .map(([whole, at, name, other]) =>
      typeof whole === 'object' && whole !== null
        ? { ...whole, [Object.keys(whole)[at] ?? name]: other }
        : other,
    )

const bodyOf = (operation: Operation, source: Source): fc.Arbitrary<Partial<Attempt>> => {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return fc.constant({})
  const right = fitting(schema, source)
  const said = mostly(source, right, spoilt(right)).map((value) => ({
    value: value as Record<string, unknown>,
    body: spell(value),
  }))
  return mostly<Partial<Attempt>>(
    source,
    said,
    oddBody.map((body) => ({ body })),
  )
}

/** What a segment may be: dots alone would be another path, which is refused as a whole. */
const segmentOf = (value: string): string => value.replace(/^\.{1,2}$/, '_$&')

const encoded = fc.oneof(
  oddText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
  fc.constantFrom('%00', '%ff', '%', '+', '%ed%a0%80', 'a&b', '=', 'a=b&a=b'),
)

const rightly = (schema: Schema, source: Source): fc.Arbitrary<string> =>
  fitting(schema, source).map((value) => encodeURIComponent(String(value).toWellFormed()))

const written = (schema: Schema, source: Source): fc.Arbitrary<string> =>
  mostly(source, rightly(schema, source), encoded)

function addressOf(path: string, parameters: readonly Parameter[], source: Source) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const values = (some: readonly Parameter[]) =>
    Object.fromEntries(some.map(({ name, schema }) => [name, written(schema, source)]))
  const further = mostly(source, fc.constant(''), encoded)
  const places = fc.record(values(inPath))
  const asked = fc.record(values(inQuery), { requiredKeys: [] })
  return fc.tuple(places, asked, further).map(([places, query, more]) => {
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    const search = [...pairs, ...(more ? [more] : [])].join('&')
    const at = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(String(places[name])))
    return search ? `${at}?${search}` : at
  })
}

const oddHeader = oddText.map((text) => Buffer.from(text.slice(0, 200)).toString('latin1'))

const headersOf = (parameters: readonly Parameter[], source: Source) => {
  const named = parameters.filter((parameter) => parameter.in === 'header')
  const values: Readonly<Record<string, fc.Arbitrary<string>>> = Object.fromEntries(
    named.map(({ name, schema }) => [
      name.toLowerCase(),
      mostly(source, fitting(schema, source).map(String), oddHeader),
    ]),
  )
  const required = named.filter(({ required }) => required).map(({ name }) => name.toLowerCase())
  const odd = fc.dictionary(
    fc.constantFrom('user-agent', 'if-match', 'if-none-match', 'cookie', 'accept', 'origin'),
    oddHeader,
    { maxKeys: 1 },
  )
  return fc
    .tuple(fc.record(values, { requiredKeys: required }), mostly(source, fc.constant({}), odd))
    .map((both) => Object.assign({}, ...both))
}

const credential = (source: Source) =>
  mostly<Attempt['credential']>(
    source,
    fc.constantFrom('agent', 'operator'),
    fc.constantFrom('none', 'junk'),
  )

function attemptsAt(method: string, path: string, operation: Operation, source: Source) {
  const { operationId, parameters = [] } = operation
  return fc
    .tuple(
      addressOf(path, parameters, source),
      headersOf(parameters, source),
      bodyOf(operation, source),
      credential(source),
    )
    .map(([address, headers, sent, as]): Attempt => {
      const { body, value } = sent
      return { operationId, method, path: address, headers, body, value, credential: as }
    })
}

/** At every operation, at those with a body more often. */
function attemptsFrom(source: Source): fc.Arbitrary<Attempt> {
  const weighted = Object.entries(source.all.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      weight: operation.requestBody || operation.parameters ? 4 : 1,
      arbitrary: attemptsAt(method.toUpperCase(), path, operation, source),
    })),
  )
  return fc.oneof(...weighted)
}

/** Half of them careful. */
export const attempts = (all: Description): fc.Arbitrary<Attempt> =>
  fc.oneof(attemptsFrom({ all, careful: true }), attemptsFrom({ all, careful: false }))
