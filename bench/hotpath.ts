/**
 * A quick look at the hot path: reads, creates and compare-and-swap updates of 1 KB texts, of ours
 * and of a bare node:http server in turns, as requests a second and as ratios of medians.
 *
 *   node bench/hotpath.ts [rounds=5] [seconds=2] [read|create|update]
 *
 * Wants two cores and `wrk`: the servers run on core 0, the load on core 1. `PROFILE=1` leaves a
 * .cpuprofile of our server in the working directory. `BEFORE=` another checkout of the project
 * takes turns with this one, to tell what a change cost.
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
const SCENARIOS = ['read', 'create', 'update'] as const
type Scenario = (typeof SCENARIOS)[number]

const [rounds = 5, seconds = 2] = process.argv.slice(2, 4).map(Number)
const only = process.argv[4]
const directory = mkdtempSync(join(tmpdir(), 'agent-home-bench-'))

interface Contestant {
  readonly name: string
  readonly url: string
  readonly process: ChildProcess
  /** What wrk runs in each scenario; the bare server is asked what ours is asked. */
  scripts: Scripts
}

type Scripts = Readonly<Record<Scenario, (round: number) => string>>

/** Both servers print one JSON line that holds their address. */
async function start(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Omit<Contestant, 'scripts'>> {
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

/** Keys that an agent updates in a round: few, so that nearly all of a round's writes are updates. */
const UPDATED_KEYS = 10

const lua = (tokens: readonly string[]): Scripts => {
  const heads = (line: string) => `
    local heads = {}
    for i, token in ipairs({${tokens.map((token) => `"${token}"`)}}) do
      heads[i] = "${line}\\r\\nHost: bench\\r\\nAuthorization: Bearer " .. token .. "\\r\\n"
    end`
  const write = (key: string, expectedVersion: string) => `
    ${heads('POST /api/agents/me/memory HTTP/1.1')}
    local start = '","text":"' .. string.rep("x", 1024) .. '","metadata":{},"expectedVersion":'
    local n = -2 -- wrk asks for one request that it never sends
    request = function()
      n = n + 1
      local body = '{"key":"${key}.' .. ${expectedVersion} .. '}'
      return heads[n % ${AGENTS} + 1] .. "Content-Type: application/json\\r\\nContent-Length: "
        .. #body .. "\\r\\n\\r\\n" .. body
    end`
  return {
    read: () => `
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
    create: (round) => write(`c${round}`, 'n .. start .. 0'),
    update: (round) =>
      write(
        `u${round}`,
        `math.floor(n / ${AGENTS}) % ${UPDATED_KEYS} .. start .. math.floor(n / ${AGENTS * UPDATED_KEYS})`,
      ),
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

function compete(contestants: readonly Contestant[]): void {
  for (const scenario of SCENARIOS) {
    if (only && only !== scenario) continue
    const connections = scenario === 'read' ? 32 : 64
    const samples = contestants.map(() => [] as Sample[])
    const run = (contestant: Contestant, round: number) =>
      load(contestant, contestant.scripts[scenario](round), connections)
    const committed = contestants.map(commitsOf)
    for (const contestant of contestants) run(contestant, rounds)
    for (let round = 0; round < rounds; round++) {
      // Who begins changes, so that nobody always follows the same other.
      const order = round % 2 === 0 ? contestants : contestants.toReversed()
      for (const contestant of order) {
        samples[contestants.indexOf(contestant)]?.push(run(contestant, round))
      }
    }
    const commits = contestants.map((contestant, i) => commitsOf(contestant) - (committed[i] ?? 0))
    report(scenario, contestants, samples, commits)
  }
}

function report(
  scenario: Scenario,
  contestants: readonly Contestant[],
  samples: readonly (readonly Sample[])[],
  commits: readonly number[],
): void {
  const bare = median(samples[0]?.map(({ perSecond }) => perSecond) ?? [])
  contestants.forEach(({ name }, i) => {
    const own = samples[i] ?? []
    const perSecond = median(own.map((sample) => sample.perSecond))
    const sum = (of: (sample: Sample) => number) => own.reduce((total, each) => total + of(each), 0)
    const together = commits[i]
      ? `  writes/commit ${(sum((s) => s.requests) / commits[i]).toFixed(1)}`
      : ''
    process.stdout.write(
      `${scenario.padEnd(6)} ${name.padEnd(6)} ${Math.round(perSecond)}/s  of bare ${(perSecond / bare).toFixed(3)}` +
        `  cpu/request ${Math.min(...own.map((each) => each.cpuMicros)).toFixed(1)} µs` +
        `  p99 ${own.map(({ p99 }) => p99).join(' ')}  refused ${sum((s) => s.refused)}${together}\n`,
    )
  })
}

/** Commits so far, to tell how many writes share one. */
function commitsOf({ url }: Contestant): number {
  const text = execFileSync('curl', ['-s', `${url}/metrics`], { encoding: 'utf8' })
  return Number(/^agent_home_commits (\d+)/m.exec(text)?.[1] ?? 0)
}

const profile = process.env.PROFILE ? ['--cpu-prof', '--cpu-prof-interval=200'] : []

async function home(name: string, checkout: string): Promise<Contestant> {
  const started = await start(name, [...profile, join(checkout, 'src/main.ts')], {
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: `sqlite:${join(directory, `${name}.db`)}`,
    MEMORIES_PER_AGENT: '0',
    READS_PER_MINUTE: UNLIMITED,
    WRITES_PER_MINUTE: UNLIMITED,
    BIRTHS_PER_HOUR: '0',
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  })
  const tokens = await Promise.all(Array.from({ length: AGENTS }, () => bear(started.url)))
  await Promise.all(tokens.map((token) => fill(started.url, token)))
  return { ...started, scripts: lua(tokens) }
}

/** Answers GET with the very bytes that ours answers the first read with. */
async function bareBeside({ url, scripts }: Contestant): Promise<Contestant> {
  const token = /"(agent_[^"]+)"/.exec(scripts.read(0))?.[1] ?? ''
  const fixed = JSON.stringify(await answerOf(url, token, 'k0'))
  const bare = await start('bare', [new URL('bare.ts', import.meta.url).pathname, fixed])
  return { ...bare, scripts }
}

const ours = await home('ours', new URL('..', import.meta.url).pathname)
const before = process.env.BEFORE ? [await home('before', process.env.BEFORE)] : []
const contestants = [await bareBeside(ours), ...before, ours]
try {
  compete(contestants)
} finally {
  for (const contestant of contestants) {
    contestant.process.kill('SIGTERM')
    await once(contestant.process, 'exit')
  }
  rmSync(directory, { recursive: true, force: true })
}
