/** What the tests of what an agent keeps ask for, in few words. */
import { expect } from 'vitest'
import {
  type Answer,
  type Born,
  type CallOptions,
  type Engine,
  openService,
  type TestService,
} from '../../harness.ts'

export const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export interface Kept extends Born {
  readonly service: TestService
  /** Below /api/agents/me, as the agent. */
  readonly ask: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  readonly post: (path: string, body: unknown, headers?: CallOptions['headers']) => Promise<Answer>
  /** A memory that is as it was sent. */
  readonly put: (
    key: string,
    expectedVersion?: number,
    text?: string,
    metadata?: string,
  ) => Promise<Answer>
  readonly read: (query: string) => Promise<Answer>
}

/** A fresh agent of the service. */
export async function keep(service: TestService): Promise<Kept> {
  const born = await service.birth()
  const ask: Kept['ask'] = (method, path, options = {}) =>
    service.call(method, `/api/agents/me${path}`, { token: born.token, ...options })
  return {
    ...born,
    service,
    ask,
    post: (path, body, headers = {}) => ask('POST', path, { body, headers }),
    async put(key, expectedVersion = 0, text = 'x', metadata = '{}') {
      const said = JSON.stringify({ key, text, expectedVersion }).slice(0, -1)
      const answer = await ask('POST', '/memory', { body: `${said},"metadata":${metadata}}` })
      expect(answer.status).toBe(200)
      return answer
    },
    read: (query) => ask('GET', `/memory?${query}`),
  }
}

/** A service of its own, for as long as it is used. */
export async function opening(engine: Engine, env: Readonly<Record<string, string>> = {}) {
  const service = await openService(engine, {
    WRITES_PER_MINUTE: '0',
    READS_PER_MINUTE: '0',
    ...env,
  })
  return Object.assign(await keep(service), { [Symbol.asyncDispose]: () => service.close() })
}
