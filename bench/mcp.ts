/**
 * What does it cost to ask by MCP? The same reads and compare-and-swap writes, as plain requests and
 * as tool calls of either revision, in turns on the same service.
 *
 *   node bench/mcp.ts [--quick]
 */
import { type Ask, connectAll, gatherRates, type Rate, rate } from './asking.ts'
import { bearAll, startHome } from './home.ts'
import { send, get as sendGet } from './load/http.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const CONNECTIONS = 32
const LEAST = 0.7
const TEXT = 'x'.repeat(1_024)

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

export interface McpPlan {
  readonly rounds: number
  readonly ms: number
}

async function measure({ rounds, ms }: McpPlan) {
  return onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    const [born] = await bearAll(url, 1)
    const asks = asksOf(born?.token ?? '')
    const connections = connectAll(
      url,
      Array.from({ length: CONNECTIONS }, () => 0),
    )
    const rates = gatherRates()
    for (let round = 0; round <= rounds; round++) {
      for (const [way, { read, write }] of Object.entries(asks)) {
        const found = {
          write: await rate(connections, write, 1, ms, child),
          read: await rate(connections, read, 0, ms, child),
        }
        // The first warms up.
        if (round === 0) continue
        for (const [what, rated] of Object.entries(found)) rates.add(`${what} ${way}`, rated)
      }
    }
    for (const { socket } of connections) socket.destroy()
    await stop(child)
    return (what: string, way: string): Rate => rates.middle(`${what} ${way}`)
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
