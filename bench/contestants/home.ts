/** Agent Home, and the bare server that is asked the very same. */
import { fileURLToPath } from 'node:url'
import { bearAll, startHome } from '../home.ts'
import { type Dialect, textOf, type Written } from '../load/dialect.ts'
import { bodyOf, frameHttp, get, send, statusOf } from '../load/http.ts'
import { SERVER_CORE, saidUrl, spawnPinned } from '../process.ts'
import { type Contestant, loaded } from './contestant.ts'

const PATH = '/api/agents/me/memory'

const BARE = fileURLToPath(new URL('../bare.ts', import.meta.url))

function written(answer: Buffer, expected: unknown): Written {
  const status = statusOf(answer)
  if (status === 200) return { is: 'saved', version: Number(expected ?? 0) + 1 }
  if (status !== 409) return { is: 'failed' }
  const { currentVersion } = JSON.parse(bodyOf(answer)) as { currentVersion: number }
  return { is: 'conflict', current: currentVersion }
}

/** Keys are spread over the agents whose tokens these are. */
export function homeDialect(tokens: readonly string[]): Dialect {
  const bearers = tokens.map((token) => `Authorization: Bearer ${token}\r\n`)
  const bearer = (key: number) => bearers[key % bearers.length] ?? ''
  const write = (key: number, text: string, expectedVersion: unknown) =>
    send(
      'POST',
      PATH,
      `{"key":"k${key}","text":"${text}","metadata":{},"expectedVersion":${expectedVersion}}`,
      bearer(key),
    )
  return {
    frame: frameHttp,
    create: (key, text) => write(key, text, 0),
    update: write,
    read: (key) => get(`${PATH}?key=k${key}`, bearer(key)),
    written,
    found: (answer) => (statusOf(answer) === 200 ? 1 : undefined),
  }
}

/** The open gateway: a trace instead of a memory. It has creates alone. */
export const gatewayDialect: Dialect = {
  ...homeDialect(['']),
  create: (_, text) => send('POST', '/api/garden', `{"text":"${text}","identity":"bench"}`),
  written: (answer) => (statusOf(answer) === 201 ? { is: 'saved', version: 1 } : { is: 'failed' }),
}

const AGENTS = 64

export const ours: Contestant = {
  name: 'agent-home',
  missing: () => undefined,
  async start(directory, generator) {
    const { child, url } = await startHome(directory)
    const tokens = (await bearAll(url, AGENTS)).map(({ token }) => token)
    return loaded(
      'agent-home',
      { speaks: 'home', port: Number(url.port), tokens },
      generator,
      child,
    )
  },
}

export const gateway: Contestant = {
  name: 'agent-home, gateway',
  operations: ['create'],
  missing: () => undefined,
  async start(directory, generator) {
    const { child, url } = await startHome(directory)
    const approach = { speaks: 'gateway', port: Number(url.port) } as const
    return loaded('agent-home, gateway', approach, generator, child)
  },
}

/** As long as an answer of ours. */
const bareBody = JSON.stringify({
  memory: {
    id: '019aa5c2-7d1c-7c3e-b3f1-0d6f6f1f2a10',
    key: 'k1000',
    text: textOf(1_000),
    metadata: {},
    version: 1,
    createdAt: '2026-11-21T10:06:00.000Z',
    updatedAt: '2026-11-21T10:06:00.000Z',
  },
})

export const bare: Contestant = {
  name: 'bare node:http',
  missing: () => undefined,
  async start(_, generator) {
    const child = spawnPinned(SERVER_CORE, [process.execPath, BARE, bareBody], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { port } = await saidUrl(child)
    const token = `aha_${'0'.repeat(49)}`
    const approach = { speaks: 'home', port: Number(port), tokens: [token] } as const
    return loaded('bare node:http', approach, generator, child)
  },
}
