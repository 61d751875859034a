/** Who competes, what each needs to be here, and how it is started. */
import { type ChildProcess, execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bearAll, startHome } from '../home.ts'
import { type Cell, type Operation, type Sample, textOf } from '../load/dialect.ts'
import type { Approach } from '../load/generator.ts'
import type { Generator } from '../load/handle.ts'
import {
  answering,
  cpuSeconds,
  freePort,
  installed,
  pinned,
  SERVER_CORE,
  saidUrl,
  spawnPinned,
  stop,
} from '../process.ts'
import { COMPARE_AND_SET } from './redis.ts'

const run = promisify(execFile)

export interface Running {
  readonly measure: (cell: Cell) => Promise<Sample>
  readonly stop: () => Promise<void>
}

export interface Contestant {
  readonly name: string
  /** Only these, where it has not all of them. */
  readonly operations?: readonly Operation[]
  /** What is not installed, if anything. */
  readonly missing: () => string | undefined
  /** Started on an empty directory, and filled. */
  readonly start: (directory: string, generator: Generator) => Promise<Running>
}

const AGENTS = 64

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const needs = (program: string) => () => (installed(program) ? undefined : program)

const quiet = { stdio: 'ignore' } as const

/** A server that the generator loads; its processor time is taken beside each sample. */
async function loaded(
  name: string,
  approach: Approach,
  generator: Generator,
  child?: ChildProcess,
): Promise<Running> {
  await generator.fill(name, approach)
  return {
    async measure(cell) {
      const before = cpuSeconds(child?.pid)
      const sample = await generator.measure(name, cell)
      const after = cpuSeconds(child?.pid)
      if (before === undefined || after === undefined) return sample
      const answers = sample.perSecond * cell.seconds
      return { ...sample, serverMicros: ((after - before) * 1e6) / answers }
    },
    stop: async () => child && stop(child),
  }
}

const ours: Contestant = {
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

const gateway: Contestant = {
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

const bare: Contestant = {
  name: 'bare node:http',
  missing: () => undefined,
  async start(_, generator) {
    const child = spawnPinned(SERVER_CORE, [process.execPath, at('../bare.ts'), bareBody], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { port } = await saidUrl(child)
    const token = `aha_${'0'.repeat(49)}`
    const approach = { speaks: 'home', port: Number(port), tokens: [token] } as const
    return loaded('bare node:http', approach, generator, child)
  },
}

const sqlite: Contestant = {
  name: 'SQLite alone',
  missing: () => undefined,
  async start(directory) {
    const file = join(directory, 'alone.db')
    const script = [process.execPath, at('sqlite.ts'), file]
    return {
      async measure({ operation, connections, seconds }) {
        const cell = [operation, `${connections}`, `${seconds}`]
        const [program = '', ...args] = pinned(SERVER_CORE, [...script, ...cell])
        const { stdout } = await run(program, args)
        // There is no generator: it measures itself.
        return { ...(JSON.parse(stdout) as Sample), generator: 0 }
      },
      stop: async () => {},
    }
  },
}

const etcd: Contestant = {
  name: 'etcd, JSON gateway',
  missing: needs('etcd'),
  async start(directory, generator) {
    const [port, peerPort] = [await freePort(), await freePort()]
    const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`]
    const options = {
      'data-dir': join(directory, 'etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      'quota-backend-bytes': '8589934592',
    }
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const child = spawnPinned(SERVER_CORE, ['etcd', ...flags], quiet)
    await answering(`${client}/health`)
    return loaded('etcd, JSON gateway', { speaks: 'etcd', port }, generator, child)
  },
}

const redis: Contestant = {
  name: 'Redis, appendfsync always',
  missing: () => needs('redis-server')() ?? needs('redis-cli')(),
  async start(directory, generator) {
    const port = await freePort()
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--save', '']
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
    const child = spawnPinned(SERVER_CORE, ['redis-server', ...options, ...durable], quiet)
    const cli = (...args: string[]) => run('redis-cli', ['-p', `${port}`, ...args])
    while ((await cli('PING').catch(() => undefined))?.stdout !== 'PONG\n');
    await cli('SCRIPT', 'LOAD', COMPARE_AND_SET)
    return loaded('Redis, appendfsync always', { speaks: 'redis', port }, generator, child)
  },
}

const peerProgram = (name: string): string => at(`../node_modules/.bin/${name}`)

const needsPeer = (name: string) => () =>
  existsSync(peerProgram(name)) ? undefined : `${name} (npm ci in bench/)`

const pouchdb: Contestant = {
  name: 'pouchdb-server',
  missing: needsPeer('pouchdb-server'),
  async start(directory, generator) {
    const port = await freePort()
    const data = join(directory, 'pouchdb')
    mkdirSync(data)
    const flags = ['--port', `${port}`, '--dir', data, '--no-stdout-logs', '--no-color']
    const command = [process.execPath, peerProgram('pouchdb-server'), ...flags]
    const child = spawnPinned(SERVER_CORE, command, { ...quiet, cwd: data })
    await answering(`http://127.0.0.1:${port}/`)
    await fetch(`http://127.0.0.1:${port}/home`, { method: 'PUT' })
    return loaded('pouchdb-server', { speaks: 'pouchdb', port }, generator, child)
  },
}

const mcpMemory: Contestant = {
  name: 'MCP memory server',
  missing: needsPeer('mcp-server-memory'),
  start(_, generator) {
    const command = pinned(SERVER_CORE, [process.execPath, peerProgram('mcp-server-memory')])
    return loaded('MCP memory server', { speaks: 'mcp-memory', command }, generator)
  },
}

export const contestants = [
  bare,
  ours,
  gateway,
  sqlite,
  etcd,
  redis,
  pouchdb,
  mcpMemory,
] as const satisfies readonly Contestant[]
