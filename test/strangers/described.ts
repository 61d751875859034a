/** Requests of every kind for what an OpenAPI description describes: right ones, and almost right. */
import fc from 'fast-check'
import { anyValue, oddBody, oddText, spell } from './odd.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
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

const texts = ({ minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'grapheme-composite', minLength, maxLength: Math.min(maxLength, 200) }),
    oddText,
  )

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  email: fc.emailAddress(),
  uuid: fc.uuid(),
}

/** Few, so that requests are often about what others have left. */
const NAMES = [...'abcdefghijkl']

function matching(pattern: RegExp): fc.Arbitrary<string> {
  const any = fc.stringMatching(pattern)
  const names = NAMES.filter((name) => pattern.test(name))
  return names.length > 0 ? fc.oneof(any, fc.constantFrom(...names)) : any
}

function stringsOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.pattern) return matching(new RegExp(schema.pattern))
  return formats[schema.format ?? ''] ?? texts(schema)
}

/** Values that fit, or nearly: of text, only the length is known. */
function fitting(schema: Schema, all: Description): fc.Arbitrary<unknown> {
  const of = (inner: Schema) => fitting(inner, all)
  if (schema.$ref) return of(all.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(of))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.type === 'string') return stringsOf(schema)
  if (schema.type === 'integer')
    return fc.integer({ min: 0, max: Math.min(schema.maximum ?? 3, 3) })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') {
    return fc.array(of(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 5, 5) })
  }
  if (!schema.properties)
    return schema.type === 'object' ? fc.dictionary(oddText, anyValue) : anyValue
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

const bodyOf = (operation: Operation, all: Description): fc.Arbitrary<Partial<Attempt>> => {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return fc.constant({})
  const right = fitting(schema, all)
  const said = fc
    .oneof({ weight: 4, arbitrary: right }, spoilt(right))
    .map((value) => ({ value: value as Record<string, unknown>, body: spell(value) }))
  return fc.oneof(
    { weight: 6, arbitrary: said },
    oddBody.map((body) => ({ body })),
  )
}

const encoded = fc.oneof(
  oddText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 2_000)),
  fc.constantFrom('%00', '%ff', '%', '+', '%ed%a0%80', 'a&b', '=', 'a=b&a=b'),
)

const rightly = (schema: Schema, all: Description): fc.Arbitrary<string> =>
  fitting(schema, all).map((value) => encodeURIComponent(String(value).toWellFormed()))

const written = (schema: Schema, all: Description): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: rightly(schema, all) }, encoded)

function addressOf(path: string, parameters: readonly Parameter[], all: Description) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const values = (some: readonly Parameter[]) =>
    Object.fromEntries(some.map(({ name, schema }) => [name, written(schema, all)]))
  const further = fc.oneof({ weight: 9, arbitrary: fc.constant('') }, encoded)
  const places = fc.record(values(inPath))
  const asked = fc.record(values(inQuery), { requiredKeys: [] })
  return fc.tuple(places, asked, further).map(([places, query, more]) => {
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    const search = [...pairs, ...(more ? [more] : [])].join('&')
    const at = path.replace(/\{(\w+)\}/g, (_, name: string) => String(places[name]))
    return search ? `${at}?${search}` : at
  })
}

const oddHeader = oddText.map((text) => Buffer.from(text.slice(0, 200)).toString('latin1'))

const headersOf = (parameters: readonly Parameter[], all: Description) => {
  const named = parameters.filter((parameter) => parameter.in === 'header')
  const values: Readonly<Record<string, fc.Arbitrary<string>>> = Object.fromEntries(
    named.map(({ name, schema }) => [
      name.toLowerCase(),
      fc.oneof({ weight: 8, arbitrary: fitting(schema, all).map(String) }, oddHeader),
    ]),
  )
  const required = named.filter(({ required }) => required).map(({ name }) => name.toLowerCase())
  const odd = fc.dictionary(
    fc.constantFrom('user-agent', 'if-match', 'if-none-match', 'cookie', 'accept', 'origin'),
    oddHeader,
    { maxKeys: 1 },
  )
  return fc
    .tuple(fc.record(values, { requiredKeys: required }), odd)
    .map((both) => Object.assign({}, ...both))
}

const credential = fc.constantFrom<Attempt['credential']>(
  ...(['agent', 'agent', 'operator', 'operator', 'operator', 'none', 'junk'] as const),
)

function attemptsAt(method: string, path: string, operation: Operation, all: Description) {
  const { operationId, parameters = [] } = operation
  return fc
    .tuple(
      addressOf(path, parameters, all),
      headersOf(parameters, all),
      bodyOf(operation, all),
      credential,
    )
    .map(([address, headers, sent, as]): Attempt => {
      const { body, value } = sent
      return { operationId, method, path: address, headers, body, value, credential: as }
    })
}

/** Attempts at every operation, those with a body more often. */
export function attempts(all: Description): fc.Arbitrary<Attempt> {
  const weighted = Object.entries(all.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      weight: operation.requestBody || operation.parameters ? 4 : 1,
      arbitrary: attemptsAt(method.toUpperCase(), path, operation, all),
    })),
  )
  return fc.oneof(...weighted)
}
