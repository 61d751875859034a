/** The rows of OAuth for programs: clients that have no token yet. */
import { type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'all',
  strict: false,
  offered: true,
  cacheControl: 'no-store',
  ofHome: true,
  needsBirths: false,
  waits: false,
})

const cacheControl = 'public, max-age=300'

const RESOURCE = '/.well-known/oauth-protected-resource'

export const oauthRights: readonly Rights[] = [
  row('readProtectedResource', `GET ${RESOURCE}`, { cacheControl }),
  row('readProtectedResourceOfMcp', `GET ${RESOURCE}/mcp`, { cacheControl }),
  row('readAuthorizationServer', 'GET /.well-known/oauth-authorization-server', { cacheControl }),
  row('registerClient', 'POST /oauth/register', {
    budget: { name: 'registrations', takes: 'one' },
  }),
  row('issueToken', 'POST /oauth/token', { budget: { name: 'oauth', takes: 'one' } }),
  row('revokeToken', 'POST /oauth/revoke', { budget: { name: 'oauth', takes: 'one' } }),
]
