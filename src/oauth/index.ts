/** The endpoints of OAuth for programs; people meet it in the console. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { readIssuer, readMcpResource, readResource } from './metadata.ts'
import type { OAuth } from './oauth.ts'
import { register } from './register.ts'
import { revoke, token } from './token.ts'

export const oauthEndpoints: readonly Endpoint<OAuth>[] = [
  readResource,
  readMcpResource,
  readIssuer,
  register,
  token,
  revoke,
]
