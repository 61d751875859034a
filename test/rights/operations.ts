/** The rows of those who run the service: they wait for nothing and stop for nothing. */
import { type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'none',
  strict: false,
  cacheControl: null,
  ofHome: false,
  needsBirths: false,
  waits: false,
})

export const operationsRights: readonly Rights[] = [
  row('healthz', 'GET /healthz'),
  row('readyz', 'GET /readyz'),
  row('metrics', 'GET /metrics', { access: 'listed-address' }),
  row('openapi', 'GET /openapi.json', { cors: 'all' }),
  row('problem', 'GET /problems/:code'),
  row('readRobots', 'GET /robots.txt'),
  row('readIcon', 'GET /favicon.ico', { cacheControl: 'public, max-age=86400' }),
  row('readSecurity', 'GET /.well-known/security.txt'),
  row('readApiCatalog', 'GET /.well-known/api-catalog', { cors: 'all' }),
  row('readSigningKeys', 'GET /.well-known/jwks.json', {
    cors: 'all',
    cacheControl: 'public, max-age=600',
  }),
]
