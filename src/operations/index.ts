/** Endpoints for operating the service, and its documents. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { openapi, problemPage } from './documents.ts'
import { healthz, readyz } from './health.ts'
import { metrics } from './metrics.ts'
import type { Operations } from './operations.ts'
import { apiCatalog, favicon, readKeys, robots, security } from './well-known.ts'

export const operationsEndpoints: readonly Endpoint<Operations>[] = [
  healthz,
  readyz,
  metrics,
  openapi,
  problemPage,
  robots,
  favicon,
  security,
  apiCatalog,
  readKeys,
]
