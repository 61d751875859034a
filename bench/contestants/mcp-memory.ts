/**
 * The MCP reference memory server, over the standard streams that it speaks. It knows no versions:
 * an update adds an observation to an entity. It rewrites its whole file on every write, so each
 * cell begins with a new file of ten entities.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Cell, type Operation, textOf } from '../load/dialect.ts'
import { gather } from '../load/sample.ts'
import type { Driver } from '../load/sockets.ts'
import { pinned, SERVER_CORE } from '../process.ts'
import { type Contestant, loaded } from './contestant.ts'
import { needsPeer, peerProgram } from './peers.ts'

const ENTITIES = 10
const PROTOCOL = '2025-06-18'

interface Client {
  readonly call: (name: string, args: object) => Promise<boolean>
  readonly close: () => Promise<void>
}

type Reply = { id?: number; error?: unknown; result?: { isError?: boolean } }

async function startClient(command: readonly string[]): Promise<Client> {
  const directory = mkdtempSync(join(tmpdir(), 'agent-home-bench-'))
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: { ...process.env, MEMORY_FILE_PATH: join(directory, 'memory.jsonl') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting = new Map<number, (ok: boolean) => void>()
  let requests = 0
  createInterface(child.stdout).on('line', (line) => {
    const { id, error, result } = JSON.parse(line) as Reply
    if (id !== undefined) waiting.get(id)?.(error === undefined && !result?.isError)
  })
  const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  const ask = (method: string, params: object): Promise<boolean> =>
    new Promise((resolve) => {
      const id = requests++
      waiting.set(id, (ok) => {
        waiting.delete(id)
        resolve(ok)
      })
      say({ jsonrpc: '2.0', id, method, params })
    })
  const clientInfo = { name: 'agent-home-bench', version: '1' }
  await ask('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo })
  say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return {
    call: (name, args) => ask('tools/call', { name, arguments: args }),
    async close() {
      child.kill()
      await once(child, 'exit')
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const entity = (key: number) => ({
  name: `k${key}`,
  entityType: 'memory',
  observations: [textOf(key)],
})

const addTo = (entityName: string, count: number) => ({
  observations: [{ entityName, contents: [textOf(count)] }],
})

/** The tool and its arguments for the nth operation. */
const calls: Readonly<Record<Operation, (count: number) => readonly [string, object]>> = {
  create: (count) => ['create_entities', { entities: [entity(ENTITIES + count)] }],
  update: (count) => ['add_observations', addTo(`k${count % ENTITIES}`, ENTITIES + count)],
  hot: (count) => ['add_observations', addTo('k0', ENTITIES + count)],
  read: (count) => ['open_nodes', { names: [`k${count % ENTITIES}`] }],
}

async function run(client: Client, { operation, connections, seconds }: Cell) {
  const until = performance.now() + seconds * 1_000
  const { add, finish } = gather()
  let count = 0
  const keepAsking = async () => {
    while (performance.now() < until) {
      const sentAt = performance.now()
      const ok = await client.call(...calls[operation](count++))
      add(performance.now() - sentAt, ok ? 'saved' : 'failed')
    }
  }
  await Promise.all(Array.from({ length: connections }, keepAsking))
  return finish()
}

/** One pipe; `connections` is how many requests are under way on it. */
export function mcpMemoryDriver(command: readonly string[]): Driver {
  return {
    fill: async () => {},
    async measure(cell) {
      const client = await startClient(command)
      try {
        const entities = Array.from({ length: ENTITIES }, (_, key) => entity(key))
        await client.call('create_entities', { entities })
        return await run(client, cell)
      } finally {
        await client.close()
      }
    },
  }
}

export const mcpMemory: Contestant = {
  name: 'MCP memory server',
  synced: false,
  missing: needsPeer('mcp-server-memory'),
  start(_, generator) {
    const command = pinned(SERVER_CORE, [process.execPath, peerProgram('mcp-server-memory')])
    return loaded('MCP memory server', { speaks: 'mcp-memory', command }, generator)
  },
}
