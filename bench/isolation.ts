/**
 * What does the home notice when the gateway is flooded? Home writes and reads on four connections,
 * first alone, then beside 200 connections that post and read in the gateway as fast as they are
 * answered.
 *
 *   node bench/isolation.ts [--quick]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { bearAll, startHome } from './home.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, stop } from './process.ts'
import { type Finding, markdownTable, publishFinding } from './result.ts'

const CLIENTS = 4
const TEXT = 'x'.repeat(1_024)
const MAX_RATIO = 3

const kinds = ['read', 'write'] as const
type Kind = (typeof kinds)[number]

interface Sample {
  readonly latencies: Readonly<Record<Kind, number[]>>
  failed: number
}

interface Comparison {
  readonly quiet: Sample
  readonly flooded: Sample
  /** How often the flood was answered with each status. */
  readonly flood: Readonly<Record<string, number>>
}

function ask(url: URL, token: string, kind: Kind, version: number): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  if (kind === 'read') return fetch(new URL('/api/agents/me/memory?key=k', url), { headers })
  const body = JSON.stringify({ key: 'k', text: TEXT, expectedVersion: version })
  return fetch(new URL('/api/agents/me/memory', url), { method: 'POST', headers, body })
}

/** One client: a write, then a read of what it wrote, and again. */
async function live(url: URL, token: string, until: number, sample: Sample): Promise<void> {
  for (let version = 0; performance.now() < until; version++) {
    for (const kind of ['write', 'read'] as const) {
      const startedAt = performance.now()
      const response = await ask(url, token, kind, version)
      await response.arrayBuffer()
      sample.latencies[kind].push(performance.now() - startedAt)
      if (!response.ok) sample.failed++
    }
  }
}

async function measure(url: URL, seconds: number): Promise<Sample> {
  const sample: Sample = { latencies: { read: [], write: [] }, failed: 0 }
  const born = await bearAll(url, CLIENTS)
  const until = performance.now() + seconds * 1_000
  await Promise.all(born.map(({ token }) => live(url, token, until, sample)))
  return sample
}

async function compare(url: URL, seconds: number): Promise<Comparison> {
  const quiet = await measure(url, seconds)
  const child = fork(new URL('load/flood.ts', import.meta.url), [url.port])
  try {
    const flooded = await measure(url, seconds)
    child.send('what were you answered?')
    const [flood] = (await once(child, 'message')) as [Record<string, number>]
    return { quiet, flooded, flood }
  } finally {
    child.kill()
  }
}

const compareOnce = (seconds: number): Promise<Comparison> =>
  onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    try {
      return await compare(url, seconds)
    } finally {
      await stop(child)
    }
  })

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

const p99 = (sample: Sample, kind: Kind): number => percentile(sample.latencies[kind], 0.99)

const row = (name: string, samples: readonly Sample[]): string[] => [
  name,
  ...kinds.flatMap((kind) =>
    [0.5, 0.99].map((share) =>
      median(samples.map(({ latencies }) => percentile(latencies[kind], share))).toFixed(1),
    ),
  ),
  `${samples.reduce((sum, { failed }) => sum + failed, 0)}`,
]

function finding(rounds: readonly Comparison[]): Finding {
  const head = ['the home, ms', 'read p50', 'read p99', 'write p50', 'write p99', 'failed']
  const quiet = rounds.map((round) => round.quiet)
  const flooded = rounds.map((round) => round.flooded)
  const answered = rounds.map(({ flood }) => JSON.stringify(flood)).join(', ')
  const goals = kinds.map((kind) => {
    const ratio = median(rounds.map((r) => p99(r.flooded, kind) / p99(r.quiet, kind)))
    const goal = `${kind}s beside a flooded gateway: p99 at most ${MAX_RATIO} times quiet`
    return { goal, measured: ratio.toFixed(2), met: ratio <= MAX_RATIO }
  })
  const table = markdownTable(head, [row('quiet', quiet), row('flooded', flooded)])
  return { part: `### isolation\n\n${table}\n\nThe flood was answered: ${answered}`, goals }
}

export async function isolation(seconds: number, rounds: number): Promise<Finding> {
  const compared: Comparison[] = []
  for (let i = 0; i < rounds; i++) compared.push(await compareOnce(seconds))
  return finding(compared)
}

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await (process.argv.includes('--quick') ? isolation(3, 1) : isolation(10, 5))
  publishFinding('isolation', 'The home beside a flooded gateway', machine, found)
}
