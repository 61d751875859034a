/**
 * /api/agents/me/keys: a new agent token, and named keys, each with its own limits and revoked
 * separately.
 */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { characters, dateTime } from '../pipeline/schemas.ts'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../pipeline/tokens.ts'
import type { Identity, KeyBounds, KeyClient } from '../store/port/identity.ts'
import type { NamedKey, NewKey } from '../store/port/keys.ts'
import { iso } from '../time.ts'
import { newId } from '../uuid.ts'
import { forOperators, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { refusal } from './refusal.ts'
import { memoryKey, tag } from './schemas.ts'

const path = '/api/agents/me/keys'

/** The new agent token. Throws `invalid_token` if the operator token was revoked. */
export async function rotateAgentKey(
  { store, clock, random }: Home,
  identity: Identity,
): Promise<string> {
  const token = tokenFrom('agent', random(TOKEN_BYTES))
  const rotated = await store.rotateAgentToken(identity, hashToken(token), clock())
  if (rotated.outcome === 'revoked') throw refusal(rotated)
  return token
}

export const rotateKey = endpoint({
  operationId: 'rotateAgentKey',
  method: 'POST',
  path,
  docs: {
    tag,
    summary: 'Rotate the agent key',
    description:
      'For a token that may have leaked. When the response is sent, the old agent token and all named keys are already invalid. The birth can no longer be replayed. If the response is lost, rotate again.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  answers: {
    200: {
      description: 'The new agent token.',
      schema: z
        .object({
          token: z.string().meta({ description: 'The new agent token. Shown only once.' }),
        })
        .meta({ id: 'KeyRotation' }),
      example: { token: 'aha_0000000000000000000000000000000000000000000example' },
    },
  },
  errors: WRITE_ERRORS,
  handle: async ({ call, identity }, home: Home) =>
    json(call, 200, { token: await rotateAgentKey(home, identity) }),
})

const access = z.enum(['read', 'write'], 'must be "read" or "write"')

const namedKey = z
  .object({
    id: z.string().meta({ format: 'uuid' }),
    name: z.string(),
    access,
    prefix: z.string().nullable().meta({
      description:
        'The key grants access only to memories whose keys start with this prefix; null: to all.',
    }),
    createdAt: dateTime,
    expiresAt: dateTime.nullable().meta({ description: 'null: never.' }),
    lastUsedAt: dateTime
      .nullable()
      .meta({ description: 'Accurate to the minute; null: not used yet.' }),
    client: z
      .object({
        id: z
          .string()
          .meta({ description: 'Registered, or the address of its metadata document.' }),
        redirectHost: z.string().meta({ description: 'Where its user was sent back to.' }),
      })
      .optional()
      .meta({
        description:
          'The program that the key was granted to by OAuth; it has no token of its own.',
      }),
    reused: z.object({ times: z.int(), lastAt: dateTime }).optional().meta({
      description:
        'How often a refresh token was used after it was replaced, and when last: by another session of the program, or by a thief. Absent if that did not happen in the last 90 days.',
    }),
  })
  .meta({ id: 'NamedKey' })

const keyExample = {
  id: '019a9c60-2b00-7f3c-8a00-1d2e3f4a5b6c',
  name: 'Nightly report',
  access: 'read',
  prefix: 'report.',
  createdAt: '2026-11-21T10:00:00.000Z',
  expiresAt: '2999-12-31T00:00:00.000Z',
  lastUsedAt: null,
} as const

const timeOrNull = (at: number | undefined): string | null => (at === undefined ? null : iso(at))

const view = ({
  id,
  name,
  access,
  prefix,
  createdAt,
  expiresAt,
  lastUsedAt,
  client,
  reused,
}: NamedKey) => ({
  id,
  name,
  access,
  prefix: prefix === '' ? null : prefix,
  createdAt: iso(createdAt),
  expiresAt: timeOrNull(expiresAt),
  lastUsedAt: timeOrNull(lastUsedAt),
  ...(client && { client }),
  ...(reused && { reused: { times: reused.times, lastAt: iso(reused.lastAt) } }),
})

/** Throws `invalid_token` if the operator token was revoked. */
export async function findKeys({ store }: Home, identity: Identity): Promise<readonly NamedKey[]> {
  const found = await store.listKeys(identity)
  if (found.outcome !== 'keys') throw refusal(found)
  return found.keys
}

export const listKeys = endpoint({
  operationId: 'listNamedKeys',
  method: 'GET',
  path,
  docs: { tag, summary: 'List the named keys, without their secrets' },
  guards: forOperators('controls'),
  query: noQuery,
  answers: {
    200: {
      description: 'All named keys, newest first, including expired ones.',
      schema: z.object({ keys: z.array(namedKey) }).meta({ id: 'NamedKeys' }),
      example: { keys: [keyExample] },
    },
  },
  handle: async ({ call, identity }, home: Home) =>
    json(call, 200, { keys: (await findKeys(home, identity)).map(view) }),
})

export const keyRequest = z
  .strictObject({
    name: characters(fields.name).meta({ description: 'The name that appears in the log.' }),
    access: access.meta({ description: '`read`: read-only; `write`: read and write.' }),
    prefix: memoryKey.optional().meta({
      description: 'The key grants access only to memories whose keys start with this prefix.',
    }),
    expiresAt: z.iso
      .datetime({ offset: true, error: 'must be a date and time with its offset from UTC' })
      .optional()
      .meta({ description: 'If omitted, the key never expires.' }),
  })
  .meta({ id: 'NamedKeyRequest' })

type KeyRequest = z.output<typeof keyRequest>

const isPast = () =>
  problem('invalid_body', { errors: [{ pointer: '/expiresAt', message: 'must be in the future' }] })

function boundsOf(home: Home, request: KeyRequest, now: number): KeyBounds {
  const { name, access, prefix = '', expiresAt } = request
  const expires = expiresAt === undefined ? undefined : Date.parse(expiresAt)
  if (expires !== undefined && expires <= now) throw isPast()
  return { id: newId(now, home.random), name, access, prefix, expiresAt: expires }
}

interface MadeKey {
  readonly key: NamedKey
  /** Returned only once. */
  readonly token: string
}

/** Throws `key_quota_reached`. */
async function keepKey(
  { store, random }: Home,
  identity: Identity,
  key: NewKey,
  now: number,
): Promise<MadeKey> {
  const token = tokenFrom('agent', random(TOKEN_BYTES))
  const made = await store.createKey(identity, key, hashToken(token), now)
  if (made.outcome === 'too_many') throw problem('key_quota_reached')
  if (made.outcome === 'revoked') throw refusal(made)
  return { key: made.key, token }
}

/** Throws `invalid_body`, `key_quota_reached`. */
export async function makeKey(
  home: Home,
  identity: Identity,
  request: KeyRequest,
): Promise<MadeKey> {
  const now = home.clock()
  return keepKey(home, identity, boundsOf(home, request, now), now)
}

export const createKey = endpoint({
  operationId: 'createNamedKey',
  method: 'POST',
  path: `${path}/named`,
  docs: {
    tag,
    summary: 'Create a named key',
    description:
      'An additional token of the agent with fewer rights: read-only, limited to one prefix of its memories, or with an expiry time. The log shows its name. Rotating the agent key revokes all named keys. If the response is lost, revoke the key and create another.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: keyRequest,
    maxBytes: body.maxBytes,
    example: {
      name: keyExample.name,
      access: keyExample.access,
      prefix: keyExample.prefix,
      expiresAt: keyExample.expiresAt,
    },
  },
  answers: {
    201: {
      description: 'The key and its token.',
      schema: z
        .object({
          key: namedKey,
          token: z.string().meta({ description: 'Used like an agent token. Shown only once.' }),
        })
        .meta({ id: 'NewNamedKey' }),
      example: {
        key: keyExample,
        token: 'aha_0000000000000000000000000000000000000000000example',
      },
    },
  },
  errors: [...WRITE_ERRORS, 'key_quota_reached'],
  async handle({ call, identity, body }, home: Home) {
    const { key, token } = await makeKey(home, identity, body)
    return json(call, 201, { key: view(key), token })
  },
})

/** What an operator permits a client of OAuth to do. */
export interface GrantRequest extends Pick<NewKey, 'access' | 'prefix' | 'grantedUntil'> {
  readonly client: KeyClient & { readonly name: string }
  /** When the key ends if the client does not come for its tokens. */
  readonly expiresAt: number
}

/** As much of a name as keys and agents may have. */
export const cutName = (name: string): string => [...name].slice(0, fields.name.maxLength).join('')

/** Returns the id of the key. Nobody gets its own token. Throws `key_quota_reached`. */
export async function grantKey(
  home: Home,
  identity: Identity,
  { client: { name, ...client }, ...bounds }: GrantRequest,
): Promise<string> {
  const now = home.clock()
  const id = newId(now, home.random)
  await keepKey(home, identity, { ...bounds, id, name: cutName(name), client }, now)
  return id
}

/** Throws `key_not_found`. */
export async function dropKey(
  { store, clock }: Home,
  identity: Identity,
  id: string,
): Promise<NamedKey> {
  const ended = await store.endKey(identity, id, clock())
  if (ended.outcome === 'missing') throw problem('key_not_found')
  if (ended.outcome === 'revoked') throw refusal(ended)
  return ended.key
}

export const endKey = endpoint({
  operationId: 'endNamedKey',
  method: 'DELETE',
  path: `${path}/:id`,
  params: z.object({ id: z.string() }),
  docs: {
    tag,
    summary: 'Revoke a named key',
    description: 'Its token is already invalid when the response is sent.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  answers: {
    200: {
      description: 'The key that was revoked.',
      schema: z.object({ key: namedKey }).meta({ id: 'EndedNamedKey' }),
      example: { key: keyExample },
    },
  },
  errors: [...WRITE_ERRORS, 'key_not_found'],
  handle: async ({ call, identity, params }, home: Home) =>
    json(call, 200, { key: view(await dropKey(home, identity, params.id)) }),
})
