/** POST /oauth/token and /oauth/revoke: what a client does with its code and its tokens. */
import { z } from 'zod'
import { readBytes } from '../http/body.ts'
import { type Answer, answer, type Call, json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { forClients, refusals, tag } from './guards.ts'
import { type OAuth, paths, resourceOf } from './oauth.ts'

const MOST_BYTES = 16_384

/** The library finds a foreign resource once the code or the refresh token is used up. */
const isForeign = (body: Uint8Array, issuer: string): boolean =>
  new URLSearchParams(Buffer.from(body).toString('latin1'))
    .getAll('resource')
    .some((each) => each !== '' && each !== resourceOf(issuer))

const FOREIGN = {
  error: 'invalid_target',
  error_description: 'resource must be the address of /mcp, or be left out',
}

/** Else the form is the library's to read, and so are the errors in it. */
async function passOn(call: Call, oauth: OAuth, issuer: string): Promise<Answer> {
  const body = await readBytes(call, MOST_BYTES)
  if (isForeign(body, issuer)) return json(call, 400, FOREIGN)
  const { ask } = await oauth.provider(issuer)
  const { status, challenge, text } = await ask({
    method: 'POST',
    target: call.path,
    headers: { 'content-type': call.requestHeaders['content-type'] },
    body,
    client: clientOf(call, oauth),
  })
  if (challenge !== undefined) call.responseHeaders['WWW-Authenticate'] = challenge
  return answer(call, status, text || '{}')
}

const errors = ['body_too_large', 'body_incomplete', ...WRITE_ERRORS] as const

const form = (fields: z.ZodRawShape, id: string) => z.object(fields).meta({ id })

export const token = endpoint({
  operationId: 'issueToken',
  method: 'POST',
  path: paths.token,
  docs: {
    tag,
    summary: 'Exchange a code, or refresh a token (RFC 6749)',
    description:
      'A code is good once, for a minute. Each refresh gives a new refresh token. The one before can still be used, by other sessions of the program, for a day or until it was replaced 20 times; then its use ends the grant. Access tokens last an hour, refresh tokens 90 days.',
  },
  guards: forClients('oauth'),
  upload: {
    mediaType: 'application/x-www-form-urlencoded',
    schema: form(
      {
        grant_type: z.enum(['authorization_code', 'refresh_token']),
        client_id: z.string(),
        code: z.string().optional(),
        redirect_uri: z.string().optional(),
        code_verifier: z.string().optional(),
        refresh_token: z.string().optional(),
        scope: z.string().optional(),
        resource: z.string().optional(),
      },
      'TokenRequest',
    ),
    example: {
      grant_type: 'refresh_token',
      client_id: 'Xr0gNTP7ZmqvVt1S8m9b4',
      refresh_token: '…',
    },
  },
  answers: {
    200: {
      description: 'The tokens.',
      schema: z
        .object({
          access_token: z.string().meta({ description: 'For /mcp alone.' }),
          token_type: z.string(),
          expires_in: z.int().meta({ description: 'Seconds.' }),
          refresh_token: z.string().optional(),
          scope: z.string(),
        })
        .meta({ id: 'Tokens' }),
      example: {
        access_token: 'aha_0000000000000000000000000000000000000000000example',
        token_type: 'Bearer',
        expires_in: 3_600,
        refresh_token: 'xV2…',
        scope: 'memory:read memory:write',
      },
    },
    ...refusals,
  },
  errors,
  handle: ({ call, issuer }, oauth: OAuth) => passOn(call, oauth, issuer),
})

export const revoke = endpoint({
  operationId: 'revokeToken',
  method: 'POST',
  path: paths.revoke,
  docs: {
    tag,
    summary: 'Revoke a token (RFC 7009)',
    description: 'Revoking a token ends its grant: all tokens of it, and its named key.',
  },
  guards: forClients('oauth'),
  upload: {
    mediaType: 'application/x-www-form-urlencoded',
    schema: form(
      {
        token: z.string(),
        client_id: z.string(),
        token_type_hint: z.string().optional(),
      },
      'RevocationRequest',
    ),
    example: { token: 'xV2…', client_id: 'Xr0gNTP7ZmqvVt1S8m9b4' },
  },
  answers: {
    200: {
      description: 'The token is not valid, or was not.',
      schema: z.object({}).meta({ id: 'Revoked' }),
      example: {},
    },
    ...refusals,
  },
  errors,
  handle: ({ call, issuer }, oauth: OAuth) => passOn(call, oauth, issuer),
})
