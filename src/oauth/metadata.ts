/** How clients find their way: the metadata of the resource (RFC 9728) and of the issuer (RFC 8414). */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { enabled } from '../pipeline/guards/private.ts'
import { offered, openToPages, tag } from './guards.ts'
import { type OAuth, paths, resourceOf, SCOPES } from './oauth.ts'

const guards = [openToPages, enabled, offered] as const

const EXAMPLE = 'https://home.example'

const texts = z.array(z.string())

const KEPT = { 'Cache-Control': 'The document may be cached for five minutes.' }

const resourceMetadata = (issuer: string) => ({
  resource: resourceOf(issuer),
  resource_name: 'Agent Home',
  authorization_servers: [issuer],
  scopes_supported: SCOPES,
  bearer_methods_supported: ['header'],
})

const docs = { tag, summary: 'Where tokens for /mcp are issued (RFC 9728)' }

/** The path of a resource is put behind that of the document; some clients leave it out. */
const ofResource = (operationId: string, path: string, described: { docs?: typeof docs } = {}) =>
  endpoint({
    ...described,
    operationId,
    method: 'GET',
    path,
    guards,
    answers: {
      200: {
        description: 'The metadata of the resource.',
        schema: z
          .object({
            resource: z.string(),
            resource_name: z.string(),
            authorization_servers: texts,
            scopes_supported: texts,
            bearer_methods_supported: texts,
          })
          .meta({ id: 'ProtectedResource' }),
        example: resourceMetadata(EXAMPLE),
        headers: KEPT,
      },
    },
    handle({ call, issuer }, _: OAuth) {
      call.responseHeaders['Cache-Control'] = 'public, max-age=300'
      return json(call, 200, resourceMetadata(issuer))
    },
  })

const RESOURCE = '/.well-known/oauth-protected-resource'

export const readResource = ofResource('readProtectedResource', RESOURCE)

export const readMcpResource = ofResource('readProtectedResourceOfMcp', `${RESOURCE}/mcp`, { docs })

/** What the library is configured for; a test compares it with the library's own document. */
export const issuerMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${paths.authorize}`,
  token_endpoint: `${issuer}${paths.token}`,
  registration_endpoint: `${issuer}${paths.register}`,
  revocation_endpoint: `${issuer}${paths.revoke}`,
  scopes_supported: SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
})

export const readIssuer = endpoint({
  operationId: 'readAuthorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  docs: { tag, summary: 'How tokens are issued (RFC 8414)' },
  guards,
  answers: {
    200: {
      description: 'The metadata of the issuer.',
      schema: z
        .looseObject({
          issuer: z.string(),
          authorization_endpoint: z.string(),
          token_endpoint: z.string(),
        })
        .meta({ id: 'AuthorizationServer' }),
      example: issuerMetadata(EXAMPLE),
      headers: KEPT,
    },
  },
  handle({ call, issuer }, _: OAuth) {
    call.responseHeaders['Cache-Control'] = 'public, max-age=300'
    return json(call, 200, issuerMetadata(issuer))
  },
})
