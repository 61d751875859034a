/** The schemas of the OpenAPI description as TypeScript, and what holds the client's types to them. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

export type Schemas = Readonly<Record<string, Schema>>

const PRIMITIVES: Readonly<Record<string, string>> = { integer: 'number' }

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  // An answer may grow; only where the description says so are other names meant.
  const others = typeof additionalProperties === 'object' ? ['[name: string]: unknown'] : []
  return `{ ${[...members, ...others].join('; ')} }`
}

/** As TypeScript. */
export function typeOf(schema: Schema): string {
  const { $ref, allOf, anyOf, type, items } = schema
  if ($ref) return `Schemas['${$ref.split('/').at(-1)}']`
  if (allOf) return allOf.map(typeOf).join(' & ')
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (type === 'object') return objectOf(schema)
  if (type === 'array') return `(${typeOf(items ?? {})})[]`
  return [type ?? 'unknown']
    .flat()
    .map((name) => PRIMITIVES[name] ?? name)
    .join(' | ')
}

export const schemasText = (schemas: Schemas): string =>
  Object.entries(schemas)
    .map(([name, schema]) => `  ${name}: ${typeOf(schema)}`)
    .join('\n')

/** The client's types, each with the described one: a schema's name, and where in it. */
export const PAIRS: Readonly<Record<string, string>> = {
  Memory: "Schemas['Memory']",
  ListedMemory: "Schemas['ListedMemory']",
  MemorySummary: "Schemas['MemorySummary']",
  MemoryHit: "Schemas['MemoryHit']",
  Neighbour: "Schemas['Neighbour']",
  VectorsStored: "Schemas['VectorsStored']",
  DeletedMemory: "Schemas['DeletedMemory']['deleted']",
  Author: "Schemas['Author']",
  Version: "Schemas['Versions']['versions'][number]",
  HomeEvent: "Schemas['HomeEvent']",
  Profile: "Schemas['Profile']",
  ProfileResult: "Schemas['ProfileResult']",
  ProfileChange: "Schemas['ProfileChange']",
  Context: "Schemas['Context']",
  BirthRequest: "Schemas['BirthRequest']",
  BirthResult: "Schemas['BirthResult']",
  Preview: "Schemas['Preview']",
  MemoryWrite: "Schemas['MemoryWrite']",
  MemoryRename: "Schemas['MemoryRename']",
  Imported: "Schemas['Imported']",
  NamedKeyRequest: "Schemas['NamedKeyRequest']",
  NamedKey: "Schemas['NamedKey']",
  NewNamedKey: "Schemas['NewNamedKey']",
  RolledBack: "Schemas['RolledBack']",
  Erased: "Schemas['Erased']['erased']",
  Fault: "NonNullable<Schemas['Problem']['errors']>[number]",
  OperationConflict: "Schemas['BatchConflict']['conflicts'][number]",
}

/**
 * `Same` is true of types that say the same, whether or not as readonly. What is optional is marked:
 * the compiler takes a type with an optional property for identical to one without it.
 */
export const comparing = `
type Plain<T> = T extends readonly (infer E)[] ? Plain<E>[] : T extends object ? Marked<T> : T
type Marked<T> = {
  -readonly [K in keyof T]-?: {} extends Pick<T, K> ? { optional: Plain<T[K]> } : Plain<T[K]>
}
type Test<T> = <U>() => U extends T ? 1 : 2
export type Same<A, B> = Test<Plain<A>> extends Test<Plain<B>> ? true : false
export type Assert<T extends true> = T
export type Flipped<T, K extends keyof T> = Omit<T, K> &
  ({} extends Pick<T, K> ? Required<Pick<T, K>> : Partial<Pick<T, K>>)
/** A union of objects with one property each, as one object. */
export type Verbs<T> = { [K in T extends unknown ? keyof T : never]?: T extends Record<K, infer V> ? V : never }
`
