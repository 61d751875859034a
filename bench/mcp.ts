/**
 * What does it cost to ask by MCP? The same reads and compare-and-swap writes, as plain requests and
 * as tool calls of either revision, in turns on the same service.
 *
 *   node bench/mcp.ts [--quick]
 */
import { connect, type Socket } from 'node:net'
import { bearAll, startHome } from './home.ts'
import { frameHttp, send, get as sendGet, statusOf } from './load/http.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { cpuSeconds, pinSelf, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const CONNECTIONS = 32
const LEAST = 0.5
const TEXT = 'x'.repeat(1_024)

/** The request of a connection's turn, for its own key at the version that it holds. */
type Ask = (key: string, version: number) => string

const TODAY = '2026-07-28'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': TODAY,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const call = (name: string, args: object, meta?: object): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, ...(meta && { _meta: meta }) },
  })

const written = (key: string, expectedVersion: number) => ({ key, text: TEXT, expectedVersion })

const todayHeaders = (tool: string) =>
  `MCP-Protocol-Version: ${TODAY}\r\nMcp-Method: tools/call\r\nMcp-Name: ${tool}\r\n`

function asksOf(token: string): Readonly<Record<string, Record<'read' | 'write', Ask>>> {
  const bearer = `Authorization: Bearer ${token}\r\n`
  const memory = '/api/agents/me/memory'
  const tool = (body: string, headers = '') => send('POST', '/mcp', body, bearer + headers)
  return {
    plain: {
      read: (key) => sendGet(`${memory}?key=${key}`, bearer),
      write: (key, version) => send('POST', memory, JSON.stringify(written(key, version)), bearer),
    },
    'MCP 2026-07-28': {
      read: (key) => tool(call('read_memory', { key }, _meta), todayHeaders('read_memory')),
      write: (key, version) =>
        tool(call('write_memory', written(key, version), _meta), todayHeaders('write_memory')),
    },
    'MCP 2025-11-25': {
      read: (key) => tool(call('read_memory', { key })),
      write: (key, version) => tool(call('write_memory', written(key, version))),
    },
  }
}

interface Connection {
  readonly socket: Socket
  readonly key: string
  version: number
}

function answered({ socket }: Connection, request: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  let received: Buffer = Buffer.alloc(0)
  const take = (chunk: Buffer) => {
    received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk
    if (frameHttp(received) < 0) return
    socket.off('data', take)
    resolve(received)
  }
  socket.on('data', take)
  socket.write(request)
  return promise
}

async function turn(connection: Connection, ask: Ask, writes: boolean): Promise<void> {
  const answer = await answered(connection, ask(connection.key, connection.version))
  if (statusOf(answer) !== 200 || answer.includes('"isError":true')) {
    throw new Error(answer.toString())
  }
  if (writes) connection.version++
}

interface Rate {
  readonly perSecond: number
  /** Of the server's processor, for one request: what a busy machine changes least. */
  readonly cpuMicros: number
}

async function rate(
  connections: readonly Connection[],
  ask: Ask,
  writes: boolean,
  ms: number,
  cpu: () => number,
): Promise<Rate> {
  let count = 0
  const before = cpu()
  const until = performance.now() + ms
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < until) {
        await turn(connection, ask, writes)
        count++
      }
    }),
  )
  const cpuMicros = ((cpu() - before) * 1_000_000) / count
  return { perSecond: (count * 1_000) / ms, cpuMicros }
}

export interface McpPlan {
  readonly rounds: number
  readonly ms: number
}

async function measure({ rounds, ms }: McpPlan) {
  return onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    const [born] = await bearAll(url, 1)
    const asks = asksOf(born?.token ?? '')
    const connections = Array.from({ length: CONNECTIONS }, (_, n) => ({
      socket: connect(Number(url.port), url.hostname).setNoDelay(),
      key: `k${n}`,
      version: 0,
    }))
    const cpu = () => cpuSeconds(child.pid) ?? 0
    const rates = new Map<string, Rate[]>()
    for (let round = 0; round <= rounds; round++) {
      for (const [way, { read, write }] of Object.entries(asks)) {
        const found = {
          write: await rate(connections, write, true, ms, cpu),
          read: await rate(connections, read, false, ms, cpu),
        }
        // The first warms up.
        if (round === 0) continue
        for (const [what, rated] of Object.entries(found)) {
          const name = `${what} ${way}`
          rates.set(name, [...(rates.get(name) ?? []), rated])
        }
      }
    }
    for (const { socket } of connections) socket.destroy()
    await stop(child)
    return (what: string, way: string): Rate => {
      const all = rates.get(`${what} ${way}`) ?? []
      return {
        perSecond: median(all.map(({ perSecond }) => perSecond)),
        cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
      }
    }
  })
}

const rowOf = (name: string, { perSecond, cpuMicros }: Rate, ratio: number): string[] => [
  name,
  perSecond.toFixed(0),
  ratio.toFixed(2),
  cpuMicros.toFixed(0),
]

export async function finding(plan: McpPlan): Promise<Finding> {
  const rateOf = await measure(plan)
  const ways = ['MCP 2026-07-28', 'MCP 2025-11-25']
  const goals: Goal[] = []
  const rows = ['read', 'write'].flatMap((what) => {
    const plain = rateOf(what, 'plain')
    const own = ways.map((way) => {
      const called = rateOf(what, way)
      const ratio = called.perSecond / plain.perSecond
      const goal = `${what} by ${way}: ${LEAST} of plain`
      goals.push({ goal, measured: ratio.toFixed(2), met: ratio >= LEAST })
      return rowOf(`${what}, ${way}`, called, ratio)
    })
    return [rowOf(`${what}, plain`, plain, 1), ...own]
  })
  const head = [`${CONNECTIONS} connections, texts of 1 KB`, 'requests/s', 'of plain', 'CPU µs']
  return { part: `### mcp\n\n${markdownTable(head, rows)}`, goals }
}

export const mcpPlan = (quick: boolean): McpPlan =>
  quick ? { rounds: 1, ms: 1_000 } : { rounds: 3, ms: 4_000 }

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await finding(mcpPlan(process.argv.includes('--quick')))
  publishFinding('mcp', 'Tool calls beside plain requests', machine, found)
  process.exit(0)
}
