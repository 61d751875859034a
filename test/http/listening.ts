/** A service on a real socket, and what a tenant of it has, to see that nothing changed. */
import type { Serve } from '../../src/http/call.ts'
import { listen, type RunningServer, type Site } from '../../src/http/server.ts'
import { refuseUnparsed } from '../../src/pipeline/problem.ts'
import { processTimers } from '../../src/timers.ts'
import { type Born, type Engine, openService, type TestService, write } from '../harness.ts'

/** Anything that serves, as a site. */
export const siteOf = (serve: Serve): Site => ({
  serve,
  newRequestId: () => 'r1',
  refuseUnparsed,
  timers: processTimers,
})

export interface Listening {
  readonly service: TestService
  readonly port: number
  readonly born: Born
  /** All that is stored, as text to compare. */
  readonly state: () => Promise<string>
  readonly close: () => Promise<void>
}

export async function openListening(
  engine: Engine,
  start: (service: TestService) => Promise<RunningServer> = ({ app }) =>
    listen(app, '127.0.0.1', 0),
): Promise<Listening> {
  const service = await openService(engine, {
    ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
    ...{ CONTROLS_PER_MINUTE: '0', BIRTHS_PER_HOUR_PER_ADDRESS: '0' },
  })
  const server = await start(service)
  const born = await service.birth()
  await write(service, born.token, 'kept', 'as it was')
  return {
    service,
    port: server.port,
    born,
    async state() {
      const { agents, memories } = await service.store.status()
      const options = { token: born.operatorToken }
      const { text } = await service.call('GET', '/api/agents/me/export', options)
      return `${agents} ${memories} ${text.replace(/"exportedAt":"[^"]+"/, '')}`
    },
    async close() {
      await server.drain()
      await service.close()
    },
  }
}
