/** Names that are sent in the place of ours: a refusal says which word is the right one. */
import { z } from 'zod'

/** As people and other services call it, in small letters alone -> ours, wherever it is asked for. */
const OURS: Readonly<Record<string, readonly string[]>> = {
  attributes: ['metadata'],
  baseversion: ['expectedVersion'],
  body: ['text'],
  category: ['type'],
  consent: ['operatorConsent'],
  content: ['text'],
  count: ['limit'],
  create: ['write'],
  currentversion: ['expectedVersion'],
  cursor: ['after', 'before'],
  data: ['text'],
  description: ['purpose'],
  get: ['read'],
  glyph: ['symbol'],
  goal: ['purpose'],
  id: ['key', 'agent_id'],
  ifmatch: ['expectedVersion'],
  interests: ['seeking'],
  ifversion: ['expectedVersion'],
  mail: ['email'],
  max: ['limit'],
  memory: ['text', 'key'],
  memorykey: ['key'],
  message: ['text'],
  meta: ['metadata'],
  move: ['rename'],
  name: ['key', 'ai_identity'],
  note: ['text'],
  ops: ['operations'],
  pagesize: ['limit'],
  query: ['q'],
  remove: ['delete'],
  revision: ['expectedVersion'],
  search: ['q'],
  seeks: ['seeking'],
  sign: ['symbol'],
  since: ['after'],
  state: ['status'],
  tags: ['metadata'],
  text: ['q'],
  title: ['key', 'name'],
  update: ['write'],
  value: ['text'],
  version: ['expectedVersion'],
}

const plain = (name: string): string => name.replace(/[^a-z]/gi, '').toLowerCase()

/** The name of ours that is meant, if one of those that are asked for may be. */
export function meantBy(sent: string, asked: readonly string[]): string | undefined {
  const word = plain(sent)
  const alike = asked.find((name) => plain(name) === word)
  const meant = Object.hasOwn(OURS, word) ? OURS[word] : undefined
  return alike ?? meant?.find((name) => asked.includes(name))
}

function within(schema: unknown, step: PropertyKey): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return within(schema.unwrap(), step)
  }
  if (schema instanceof z.ZodArray) return schema.element
  return schema instanceof z.ZodObject ? schema.shape[String(step)] : undefined
}

function unwrapped(schema: unknown): unknown {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  return isWrapped ? unwrapped(schema.unwrap()) : schema
}

/** The names that a schema asks for at a place; none where it is no object's. */
export function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const found = unwrapped(path.reduce(within, schema as unknown))
  return found instanceof z.ZodObject ? Object.keys(found.shape) : []
}

const isObject = (value: unknown): value is Readonly<Record<PropertyKey, unknown>> =>
  typeof value === 'object' && value !== null

/** Undefined where nothing is. */
export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, step) => (isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    value,
  )
