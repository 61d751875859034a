/**
 * Does the home notice that the gateway is flooded? Home reads and writes on a few connections,
 * first alone, then beside 200 connections that post and read in the gateway as fast as they are
 * answered. Prints the home's p50 and p99, quiet and flooded, and fails if a home request failed.
 *
 *   node bench/isolation.ts [seconds=10] [rounds=3]
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const FLOODING = 200
const HOME_CONNECTIONS = 4
const LOWEST_PRIORITY = 19

const http = (method: string, path: string, body = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const requests = [
  http('POST', '/api/garden', JSON.stringify({ text: 'a trace of the flood '.repeat(10) })),
  http('GET', '/api/seeds?limit=20'),
  http('POST', '/api/seeds', JSON.stringify({ text: 'a seed', tags: ['flood'], symbol: 'vir' })),
  http('POST', '/api/resonance', JSON.stringify({ ai_identity: 'Flood', seeking: ['trace'] })),
  http('GET', '/api/discover'),
]

/** One connection, one request after the other; each answer is counted by its status. */
function flood(port: number, seen: Map<string, number>): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let sent = Math.floor(Math.random() * requests.length)
  let rest = Buffer.alloc(0)
  const send = () => socket.write(requests[sent++ % requests.length] ?? '')
  socket.on('connect', send)
  socket.on('error', () => seen.set('broken', (seen.get('broken') ?? 0) + 1))
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    const head = rest.indexOf('\r\n\r\n')
    if (head < 0) return
    const text = rest.toString('latin1', 0, head)
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (rest.length < head + 4 + length) return
    const status = text.slice(9, 12)
    seen.set(status, (seen.get(status) ?? 0) + 1)
    rest = Buffer.alloc(0)
    send()
  })
}

/** In a process of its own, so that it does not delay the home's clients. */
function floodUntilKilled(port: number): void {
  const seen = new Map<string, number>()
  for (let i = 0; i < FLOODING; i++) flood(port, seen)
  process.on('message', () => process.send?.(Object.fromEntries(seen), () => process.exit(0)))
}

interface Reply {
  readonly status: number
  readonly body: string
}

const agent = new Agent({ keepAlive: true, maxSockets: HOME_CONNECTIONS })

function call(url: string, token: string, body?: unknown, key = ''): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/agents/me/memory${key}`, { agent, method, headers }, (got) => {
      let text = ''
      got.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      got.on('end', () => resolve({ status: got.statusCode ?? 0, body: text }))
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function bear(url: string): Promise<string> {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
  const response = await fetch(`${url}/api/agents/birth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ name: 'A', purpose: 'p', symbol: 'kolo', operatorConsent: true }),
  })
  return ((await response.json()) as { token: string }).token
}

interface Latencies {
  readonly read: number[]
  readonly write: number[]
  failed: number
}

/** One home client: a write, then a read of what it wrote, and again. */
async function live(url: string, token: string, until: number, seen: Latencies): Promise<void> {
  for (let version = 0; performance.now() < until; version++) {
    for (const kind of ['write', 'read'] as const) {
      const start = performance.now()
      const { status } = await (kind === 'write'
        ? call(url, token, { key: 'k', text: 'x'.repeat(1024), expectedVersion: version })
        : call(url, token, undefined, '?key=k'))
      seen[kind].push(performance.now() - start)
      if (status !== 200) seen.failed++
    }
  }
}

async function measure(url: string, seconds: number): Promise<Latencies> {
  const seen: Latencies = { read: [], write: [], failed: 0 }
  const tokens = await Promise.all(Array.from({ length: HOME_CONNECTIONS }, () => bear(url)))
  const until = performance.now() + seconds * 1000
  await Promise.all(tokens.map((token) => live(url, token, until, seen)))
  return seen
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

const rounded = (value: number): number => Math.round(value * 100) / 100

const summary = (values: readonly number[]) => ({
  count: values.length,
  p50_ms: rounded(percentile(values, 0.5)),
  p99_ms: rounded(percentile(values, 0.99)),
})

async function floodedMeasure(url: string, seconds: number) {
  const child: ChildProcess = fork(new URL(import.meta.url), ['flood', new URL(url).port])
  if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY)
  const home = await measure(url, seconds)
  child.send('stop')
  const [gateway] = (await once(child, 'message')) as [Record<string, number>]
  return { home, gateway }
}

async function compare(url: string, seconds: number): Promise<number> {
  const quiet = await measure(url, seconds)
  const { home, gateway } = await floodedMeasure(url, seconds)
  const ratio = (kind: 'read' | 'write') =>
    rounded(percentile(home[kind], 0.99) / percentile(quiet[kind], 0.99))
  const result = {
    quiet: { read: summary(quiet.read), write: summary(quiet.write), failed: quiet.failed },
    flooded: { read: summary(home.read), write: summary(home.write), failed: home.failed },
    p99Ratio: { read: ratio('read'), write: ratio('write') },
    gatewayAnswers: gateway,
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
  return quiet.failed + home.failed
}

async function run(seconds: number, rounds: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'agent-home-bench-'))
  const main = new URL('../src/main.ts', import.meta.url).pathname
  const server = spawn(process.execPath, [main], {
    env: {
      ...process.env,
      PORT: '0',
      DATABASE_URL: `sqlite:${join(directory, 'home.db')}`,
      READS_PER_MINUTE: '0',
      WRITES_PER_MINUTE: '0',
      BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(server.stdout), 'line')
  const { url } = JSON.parse(line) as { url: string }
  let failed = 0
  for (let round = 0; round < rounds; round++) failed += await compare(url, seconds)
  server.kill('SIGTERM')
  await once(server, 'exit')
  rmSync(directory, { recursive: true, force: true })
  return failed
}

const [first = '10', second = '3'] = process.argv.slice(2)
if (first === 'flood') floodUntilKilled(Number(second))
else {
  process.exitCode = (await run(Number(first), Number(second))) > 0 ? 1 : 0
  agent.destroy()
}
