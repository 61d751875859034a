/** Every declared endpoint of every door. */
import { gatewayEndpoints } from '../src/gateway/index.ts'
import { homeEndpoints } from '../src/home/index.ts'
import { mcpEndpoints } from '../src/mcp/mcp.ts'
import { oauthEndpoints } from '../src/oauth/index.ts'
import { operationsEndpoints } from '../src/operations/index.ts'
import type { Endpoint } from '../src/pipeline/endpoint.ts'
import { consoleEndpoints, landing, roomEndpoints } from '../src/web/index.ts'

export const endpoints: readonly Endpoint<never>[] = [
  ...homeEndpoints,
  ...mcpEndpoints,
  ...oauthEndpoints,
  landing,
  ...gatewayEndpoints,
  ...operationsEndpoints,
  ...consoleEndpoints,
  ...roomEndpoints,
]

const patterns = endpoints.map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/:\w+/g, '[^/]+')}$`),
}))

const matching = (path: string): Endpoint<never>[] =>
  patterns.filter(({ pattern }) => pattern.test(path)).map(({ endpoint }) => endpoint)

/** The endpoint that answers a request; HEAD is GET's. */
export function endpointOf(method: string, path: string): Endpoint<never> | undefined {
  const exact = endpoints.filter((known) => known.path === path)
  const served = exact.length > 0 ? exact : matching(path)
  return served.find((known) => known.method === (method === 'HEAD' ? 'GET' : method))
}
