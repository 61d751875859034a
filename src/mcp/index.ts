/** The MCP endpoint. */
import type { Home } from '../home/home.ts'
import type { Endpoint } from '../pipeline/endpoint.ts'
import { serveMcp } from './mcp.ts'

export const mcpEndpoints: readonly Endpoint<Home>[] = [serveMcp]
