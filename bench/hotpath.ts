/**
 * A quick look at the hot path: reads and durable compare-and-swap writes of 1 KB texts, ours and a
 * bare node:http server in turns, as requests a second and as ratios of medians.
 *
 *   node bench/hotpath.ts [rounds=5] [seconds=2] [read|write]
 *
 * Wants two cores and `wrk`: the servers run on core 0, the load on core 1. `PROFILE=1` leaves a
 * .cpuprofile of our server in the working directory.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { answerOf } from './fixed.ts'

const AGENTS = 64
const KEYS_PER_AGENT = 100
const TEXT = 'x'.repeat(1024)
const UNLIMITED = '999999999'

const [rounds = 5, seconds = 2] = process.argv.slice(2, 4).map(Number)
const only = process.argv[4]
const directory = mkdtempSync(join(tmpdir(), 'agent-home-bench-'))

interface Contestant {
  readonly name: string
  readonly url: string
  readonly process: ChildProcess
}

/** Both servers print one JSON line that holds their address. */
async function start(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Contestant> {
  const child = spawn('taskset', ['-c', '0', process.execPath, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { name, url: (JSON.parse(line) as { url: string }).url, process: child }
}

const post = (url: string, headers: Record<string, string>, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

async function bear(url: string): Promise<string> {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
  const response = await post(
    `${url}/api/agents/birth`,
    { 'idempotency-key': key },
    { name: 'Bench', purpose: 'Measures.', symbol: 'zerno', operatorConsent: true },
  )
  return ((await response.json()) as { token: string }).token
}

const memory = (key: string) => ({ key, text: TEXT, metadata: {}, expectedVersion: 0 })

async function fill(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  for (let i = 0; i < KEYS_PER_AGENT; i++) {
    const saved = await post(`${url}/api/agents/me/memory`, headers, memory(`k${i}`))
    await saved.text()
  }
}

/** Scripts for wrk: what is sent in turn. A round of writes first creates its keys, then updates. */
const lua = (tokens: readonly string[]) => {
  const heads = (line: string) => `
    local heads = {}
    for i, token in ipairs({${tokens.map((token) => `"${token}"`)}}) do
      heads[i] = "${line}\\r\\nHost: bench\\r\\nAuthorization: Bearer " .. token .. "\\r\\n"
    end`
  return {
    read: (_round: number) => `
      ${heads('GET /api/agents/me/memory?key=k%d HTTP/1.1')}
      local requests, n = {}, 0
      for i = 0, ${AGENTS * KEYS_PER_AGENT} - 1 do
        local key = math.floor(i / ${AGENTS}) * 37 % ${KEYS_PER_AGENT}
        requests[i] = string.format(heads[i % ${AGENTS} + 1], key) .. "\\r\\n"
      end
      request = function()
        n = (n + 1) % ${AGENTS * KEYS_PER_AGENT}
        return requests[n]
      end`,
    write: (round: number) => `
      ${heads('POST /api/agents/me/memory HTTP/1.1')}
      local start = '","text":"' .. string.rep("x", 1024) .. '","metadata":{},"expectedVersion":'
      local n = -2 -- wrk asks for one request that it never sends
      request = function()
        n = n + 1
        local key = math.floor(n / ${AGENTS}) % 60
        local body = '{"key":"r${round}.' .. key .. start .. math.floor(n / ${AGENTS * 60}) .. '}'
        return heads[n % ${AGENTS} + 1] .. "Content-Type: application/json\\r\\nContent-Length: "
          .. #body .. "\\r\\n\\r\\n" .. body
      end`,
  }
}

interface Sample {
  readonly perSecond: number
  /** The server's processor time for one request; its least is steady even on a busy machine. */
  readonly cpuMicros: number
  readonly p99: string
  readonly requests: number
  readonly refused: number
}

/** User and system time so far; /proc counts it in hundredths of a second. */
function cpuMicrosOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

function load({ url, process }: Contestant, script: string, connections: number): Sample {
  const file = join(directory, 'load.lua')
  writeFileSync(file, script)
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', file, url]
  const before = cpuMicrosOf(process.pid)
  const report = execFileSync('taskset', ['-c', '1', 'wrk', ...args], { encoding: 'utf8' })
  const find = (pattern: RegExp) => pattern.exec(report)?.[1] ?? '0'
  const requests = Number(find(/(\d+) requests in/))
  return {
    requests,
    cpuMicros: (cpuMicrosOf(process.pid) - before) / requests,
    perSecond: Number(find(/Requests\/sec:\s+([\d.]+)/)),
    p99: find(/99%\s+(\S+)/),
    refused: Number(find(/Non-2xx or 3xx responses: (\d+)/)),
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const scenarios = [
  { name: 'read', connections: 32 },
  { name: 'write', connections: 64 },
] as const

function compete(contestants: readonly Contestant[], tokens: readonly string[]): void {
  const scripts = lua(tokens)
  for (const { name, connections } of scenarios) {
    if (only && only !== name) continue
    const samples = contestants.map(() => [] as Sample[])
    const committed = commitsOf(contestants[1]?.url)
    contestants.forEach((contestant) => void load(contestant, scripts[name](rounds), connections))
    for (let round = 0; round < rounds; round++) {
      contestants.forEach((contestant, i) => {
        samples[i]?.push(load(contestant, scripts[name](round), connections))
      })
    }
    const [bare = 0, ours = 0] = samples.map((s) => median(s.map(({ perSecond }) => perSecond)))
    const [bareCpu = 0, oursCpu = 0] = samples.map((s) =>
      Math.min(...s.map((each) => each.cpuMicros)),
    )
    const p99 = samples[1]?.map((sample) => sample.p99).join(' ')
    const refused = samples[1]?.reduce((sum, sample) => sum + sample.refused, 0)
    const requests = samples[1]?.reduce((sum, { requests }) => sum + requests, 0) ?? 0
    const commits = commitsOf(contestants[1]?.url) - committed
    process.stdout.write(
      `${name.padEnd(6)} bare ${Math.round(bare)}/s  ours ${Math.round(ours)}/s  ` +
        `ratio ${(ours / bare).toFixed(3)}  cpu/request ${bareCpu.toFixed(1)} and ${oursCpu.toFixed(1)} µs, ` +
        `ratio ${(bareCpu / oursCpu).toFixed(3)}  p99 ${p99}  refused ${refused}` +
        `${commits > 0 ? `  writes/commit ${(requests / commits).toFixed(1)}` : ''}\n`,
    )
  }
}

/** Commits so far, to tell how many writes share one. */
function commitsOf(url = ''): number {
  const text = execFileSync('curl', ['-s', `${url}/metrics`], { encoding: 'utf8' })
  return Number(/^agent_home_commits (\d+)/m.exec(text)?.[1])
}

const profile = process.env.PROFILE ? ['--cpu-prof', '--cpu-prof-interval=200'] : []
const main = new URL('../src/main.ts', import.meta.url).pathname
const ours = await start('ours', [...profile, main], {
  PORT: '0',
  LOG_LEVEL: 'info',
  DATABASE_URL: `sqlite:${join(directory, 'home.db')}`,
  MEMORIES_PER_AGENT: '0',
  READS_PER_MINUTE: UNLIMITED,
  WRITES_PER_MINUTE: UNLIMITED,
  BIRTHS_PER_HOUR: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
})
const tokens = await Promise.all(Array.from({ length: AGENTS }, () => bear(ours.url)))
await Promise.all(tokens.map((token) => fill(ours.url, token)))
const fixed = JSON.stringify(await answerOf(ours.url, tokens[0] ?? '', 'k0'))
const bare = await start('bare', [new URL('bare.ts', import.meta.url).pathname, fixed])
try {
  compete([bare, ours], tokens)
} finally {
  for (const contestant of [bare, ours]) {
    contestant.process.kill('SIGTERM')
    await once(contestant.process, 'exit')
  }
  rmSync(directory, { recursive: true, force: true })
}
