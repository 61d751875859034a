/** A home on a real socket, and the client at its door. */
import { AgentHome, type AgentHomeOptions } from 'agent-home-client'
import { listen } from '../../src/http/server.ts'
import { type Born, type Engine, embedded, openService, type TestService } from '../harness.ts'

export interface OpenedHome {
  readonly service: TestService
  readonly port: number
  readonly url: string
  /** An agent of its own, by its own token and its operator's. */
  readonly born: (options?: Partial<AgentHomeOptions>) => Promise<Born & Clients>
  readonly close: () => Promise<void>
}

export interface Clients {
  readonly home: AgentHome
  readonly operator: AgentHome
}

const unlimited = {
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  EXPORTS_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

export async function openHome(
  env: Readonly<Record<string, string>> = {},
  { engine = embedded, port = 0 }: { readonly engine?: Engine; readonly port?: number } = {},
): Promise<OpenedHome> {
  const service = await openService(engine, { ...unlimited, ...env })
  const server = await listen(service.app, '127.0.0.1', port)
  const url = `http://127.0.0.1:${server.port}`
  return {
    service,
    port: server.port,
    url,
    async born(options) {
      const born = await service.birth()
      const clientOf = (token: string) => new AgentHome({ url, token, ...options })
      return { ...born, home: clientOf(born.token), operator: clientOf(born.operatorToken) }
    },
    async close() {
      await server.drain()
      await service.close()
    },
  }
}
