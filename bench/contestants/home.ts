/** Agent Home, and the bare server that is asked the very same. */
import { fileURLToPath } from 'node:url'
import { answerOf, type Fixed } from '../fixed.ts'
import { bearAll, fullHome, startHome } from '../home.ts'
import type { Dialect, Written } from '../load/dialect.ts'
import { bodyOf, frameHttp, get, send, statusOf } from '../load/http.ts'
import { SERVER_CORE, saidUrl, spawnPinned, stop } from '../process.ts'
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
  synced: true,
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

/** One memory of ours, as it is answered to GET. */
async function answerOfOurs(directory: string): Promise<Fixed> {
  const { child, url, tokens } = await fullHome(directory, 1, 1)
  try {
    return await answerOf(url, tokens[0] ?? '', 'k0')
  } finally {
    await stop(child)
  }
}

export const bare: Contestant = {
  name: 'bare node:http',
  missing: () => undefined,
  async start(directory, generator) {
    const fixed = JSON.stringify(await answerOfOurs(directory))
    const child = spawnPinned(SERVER_CORE, [process.execPath, BARE, fixed], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { port } = await saidUrl(child)
    const token = `aha_${'0'.repeat(49)}`
    const approach = { speaks: 'home', port: Number(port), tokens: [token] } as const
    return loaded('bare node:http', approach, generator, child)
  },
}
