/** Zod's issues -> JSON pointers (RFC 6901), for bodies and queries. */
import { z } from 'zod'
import { catalogue, type FieldError, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { firstFaults } from '../http/json-faults.ts'
import { queryOf } from '../http/target.ts'
import { pointerOf } from '../json/pointer.ts'

/** What visitors call their own name. */
const AUTHOR = [
  'agent',
  'agentid',
  'author',
  'from',
  'name',
  'nickname',
  'signature',
  'user',
  'username',
]

/** Our names -> what they are often called, in lower case; of two that may be meant, the first. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  text: ['body', 'content', 'data', 'memory', 'message', 'note', 'value'],
  key: ['id', 'memory', 'memorykey', 'name', 'title'],
  agent_id: ['id'],
  ai_identity: ['identity', ...AUTHOR],
  identity: ['aiidentity', ...AUTHOR],
  name: ['title'],
  after: ['cursor', 'since'],
  before: ['cursor'],
  metadata: ['attributes', 'meta', 'tags'],
  expectedVersion: ['baseversion', 'currentversion', 'ifmatch', 'ifversion', 'revision', 'version'],
  limit: ['count', 'max', 'pagesize'],
  q: ['query', 'search', 'text'],
  type: ['category'],
  tags: ['tag'],
  purpose: ['description', 'goal'],
  symbol: ['glyph', 'sign'],
  seeking: ['interests', 'lookingfor', 'seek', 'seeks', 'sought'],
  operatorConsent: ['consent'],
  email: ['mail'],
  status: ['state'],
  operations: ['ops'],
  write: ['create', 'update'],
  delete: ['remove'],
  read: ['get'],
  rename: ['move'],
}

const meanings = Map.groupBy(
  Object.entries(OTHER_NAMES).flatMap(([ours, theirs]) => theirs.map((word) => ({ ours, word }))),
  ({ word }) => word,
)

const plain = (name: string): string => name.replace(/[^a-z]/gi, '').toLowerCase()

/** The allowed name that was probably meant. */
function meantBy(sent: string, asked: readonly string[]): string | undefined {
  const word = plain(sent)
  const alike = asked.find((name) => plain(name) === word)
  return alike ?? meanings.get(word)?.find(({ ours }) => asked.includes(ours))?.ours
}

function unwrapped(schema: unknown): unknown {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  return isWrapped ? unwrapped(schema.unwrap()) : schema
}

function within(schema: unknown, step: PropertyKey): unknown {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray) return inner.element
  return inner instanceof z.ZodObject ? inner.shape[String(step)] : undefined
}

/** The names that a schema expects; none if it is not an object. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const found = unwrapped(path.reduce(within, schema as unknown))
  return found instanceof z.ZodObject ? Object.keys(found.shape) : []
}

const isObject = (value: unknown): value is Readonly<Record<PropertyKey, unknown>> =>
  typeof value === 'object' && value !== null

/** Undefined if there is nothing. */
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, step) => (isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    value,
  )

/** A complete list would be many times the size of the body, and nobody would read it. */
const MOST_FAULTS = 50

/** The validated value, and its schema. */
interface Validated {
  readonly schema: z.ZodType
  readonly value: unknown
}

/** A schema's sentences about names that it does not have, as `meta({ elsewhere })`. */
function elsewhere(schema: z.ZodType, name: string): string | undefined {
  const { elsewhere } = schema.meta() ?? {}
  return isObject(elsewhere) && Object.hasOwn(elsewhere, name) ? String(elsewhere[name]) : undefined
}

/** The message for an unknown property. */
export function unknownName(name: string, known: readonly string[]): string {
  const meant = meantBy(name, known)
  return `is not a known property; ${meant ? `it is called "${meant}"` : 'leave it out'}`
}

const LONGEST_NAME = 40

/** A sent name that probably means a missing one, if unknown names are allowed. */
function sentInstead(missing: PropertyKey | undefined, beside: unknown, known: readonly string[]) {
  return Object.keys(beside ?? {})
    .filter((name) => name.length <= LONGEST_NAME && name !== missing)
    .find((name) => meantBy(name, known) === missing)
}

/** The message for a missing value. */
function missing({ path, message }: z.core.$ZodIssue, { schema, value }: Validated): string {
  const place = path.slice(0, -1)
  const instead = sentInstead(path.at(-1), valueAt(value, place), namesAt(schema, place))
  const must = message.startsWith('must') ? `: it ${message}` : ''
  return `is missing${must}${instead ? `; you call it "${instead}"` : ''}`
}

function* faultsOf(issue: z.core.$ZodIssue, validated: Validated): Iterable<FieldError> {
  const { path, message } = issue
  if (issue.code !== 'unrecognized_keys') {
    const isMissing = valueAt(validated.value, path) === undefined
    const said = isMissing ? missing(issue, validated) : message
    return yield { pointer: pointerOf(path), message: said }
  }
  const known = namesAt(validated.schema, path)
  for (const key of issue.keys) {
    const message = elsewhere(validated.schema, key) ?? unknownName(key, known)
    yield { pointer: pointerOf([...path, key]), message }
  }
}

const countOf = (issue: z.core.$ZodIssue): number =>
  issue.code === 'unrecognized_keys' ? issue.keys.length : 1

/** The first errors, and a sentence if there are more. */
function faults(
  { issues }: z.ZodError,
  validated: Validated,
  code: 'invalid_body' | 'invalid_query',
) {
  const all = Iterator.from(issues).flatMap((issue) => faultsOf(issue, validated))
  const errors = firstFaults(all, MOST_FAULTS)
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0)
  if (count === errors.length) return { errors }
  const named = errors.length === 1 ? 'the first is' : `the first ${errors.length} are`
  return { errors, detail: `${catalogue[code].detail} There are ${count}; ${named} named.` }
}

/** An object without members that are null. */
export const withoutNulls = (value: unknown): unknown =>
  isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value

/**
 * For a schema that ignores unknown names. Throws `invalid_body` if one of them probably means an
 * optional property that was not sent.
 */
export function refuseMisnamed({ shape }: z.ZodObject, sent: unknown): void {
  if (!isObject(sent)) return
  const [known, unknown] = [Object.keys(shape), namesBeside(shape, sent)]
  const left = known.filter((name) => !Object.hasOwn(sent, name) && isOptional(shape[name]))
  const errors = unknown
    .filter((name) => meantBy(name, left))
    .map((name) => ({ pointer: pointerOf([name]), message: unknownName(name, left) }))
  if (errors.length > 0) throw problem('invalid_body', { errors: errors.slice(0, MOST_FAULTS) })
}

const isOptional = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault

/** The names of a value that a schema does not have. */
export const namesBeside = (shape: z.ZodRawShape, value: object): readonly string[] =>
  Object.keys(value).filter((name) => !Object.hasOwn(shape, name))

/** Throws `invalid_body`, each error with its pointer. */
export function validateBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw problem('invalid_body', faults(parsed.error, { schema, value }, 'invalid_body'))
}

/** Throws `invalid_query` for an invalid, unknown or repeated parameter. */
export function validateQuery<S extends z.ZodType>(schema: S, call: Call): z.output<S> {
  const value = queryOf(call.search)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const { errors, ...counted } = faults(parsed.error, { schema, value }, 'invalid_query')
  const named = errors.map(({ pointer: at, message }) => ({ pointer: `?${at.slice(1)}`, message }))
  throw problem('invalid_query', { errors: named, ...counted })
}
