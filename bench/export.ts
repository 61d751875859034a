/**
 * An export of 100,000 memories of 1 KB: how fast, with how much memory, and at what cost to others.
 *
 *   node bench/export.ts [--quick]
 */
import { connect } from 'node:net'
import { fullHome } from './home.ts'
import { type Generator, startGenerator } from './load/handle.ts'
import { get } from './load/http.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, residentMB, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const MIN_MB_PER_SECOND = 100
const MAX_GROWTH_MB = 50
const MAX_P99_FACTOR = 2
const SAMPLE_MS = 10
const READ_BYTES = 256 * 1_024
/** Others are a few clients that read: not a second load test. */
const OTHERS = 4
const OTHERS_SECONDS = 2

interface Plan {
  readonly memories: number
  readonly rounds: number
}

export const exportPlan = (quick: boolean): Plan =>
  quick ? { memories: 10_000, rounds: 1 } : { memories: 100_000, rounds: 5 }

interface Exported {
  readonly megabytes: number
  readonly seconds: number
}

const END = '\r\n0\r\n\r\n'

/**
 * Reads an export to its end, or fails where it broke. From a bare socket into one buffer: a reader
 * that parsed would take the generator's core, and others would seem to wait for the server.
 */
function exportOnce(url: URL, token: string): Promise<Exported> {
  const startedAt = performance.now()
  let bytes = 0
  let tail = ''
  return new Promise((resolve, reject) => {
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback(size: number, shared: Uint8Array): boolean {
        bytes += size
        const end = shared.subarray(Math.max(0, size - END.length), size)
        tail = (tail + Buffer.from(end).toString('latin1')).slice(-END.length)
        if (tail === END) {
          resolve({ megabytes: bytes / 1e6, seconds: (performance.now() - startedAt) / 1_000 })
          socket.destroy()
        }
        return true
      },
    }
    const socket = connect({ port: Number(url.port), host: url.hostname, onread })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the export broke')))
    socket.write(get('/api/agents/me/export', `Authorization: Bearer ${token}\r\n`))
  })
}

/** The most by which the process grew while something ran. */
async function growthOf(pid: number | undefined, work: () => Promise<unknown>): Promise<number> {
  const before = residentMB(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentMB(pid))
  }, SAMPLE_MS)
  await work()
  clearInterval(timer)
  return most - before
}

interface Round {
  readonly mbPerSecond: number
  readonly growthMB: number
  readonly quietP99: number
  readonly besideP99: number
}

async function measureRound(
  { url, child, token }: { url: URL; child: { pid?: number | undefined }; token: string },
  generator: Generator,
): Promise<Round> {
  const others = { operation: 'read', connections: OTHERS, seconds: OTHERS_SECONDS } as const
  const quiet = await generator.measure('others', others)
  let alone: Exported = { megabytes: 0, seconds: 1 }
  const growthMB = await growthOf(child.pid, async () => {
    alone = await exportOnce(url, token)
  })
  let over = false
  const exporting = (async () => {
    while (!over) await exportOnce(url, token)
  })()
  const beside = await generator.measure('others', others)
  over = true
  await exporting
  const mbPerSecond = alone.megabytes / alone.seconds
  return { mbPerSecond, growthMB, quietP99: quiet.p99, besideP99: beside.p99 }
}

function goalsOf(rounds: readonly Round[], memories: number): Goal[] {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick))
  const [speed, growthMB] = [of((r) => r.mbPerSecond), Math.max(...rounds.map((r) => r.growthMB))]
  const [quiet, beside] = [of((r) => r.quietP99), of((r) => r.besideP99)]
  const of1KB = `export of ${memories.toLocaleString('en-US')} memories of 1 KB`
  return [
    {
      goal: `${of1KB}: ${MIN_MB_PER_SECOND} MB/s`,
      measured: `${speed.toFixed(0)} MB/s`,
      met: speed >= MIN_MB_PER_SECOND,
    },
    {
      goal: `${of1KB}: resident memory grows under ${MAX_GROWTH_MB} MB`,
      measured: `${growthMB.toFixed(0)} MB at most`,
      met: growthMB < MAX_GROWTH_MB,
    },
    {
      goal: `p99 of others at most doubled while exports run`,
      measured: `${(beside / quiet).toFixed(2)} (${quiet.toFixed(2)} ms to ${beside.toFixed(2)} ms)`,
      met: beside <= quiet * MAX_P99_FACTOR,
    },
  ]
}

export async function exports({ memories, rounds }: Plan): Promise<Finding> {
  const generator = startGenerator()
  try {
    return await onDisk(async (directory) => {
      const { tokens, ...home } = await fullHome(directory, 1, memories)
      const port = Number(home.url.port)
      await generator.fill('others', {
        speaks: 'home',
        port,
        tokens,
        prefilled: { keys: memories },
      })
      const measured: Round[] = []
      for (let round = 0; round < rounds; round++) {
        measured.push(await measureRound({ ...home, token: tokens[0] ?? '' }, generator))
      }
      await stop(home.child)
      const rows = measured.map((r) =>
        [r.mbPerSecond, r.growthMB, r.quietP99, r.besideP99].map((value) => value.toFixed(2)),
      )
      const head = ['MB/s', 'memory grown, MB', 'p99 of others before, ms', 'meanwhile, ms']
      return {
        part: `### export\n\n${markdownTable(head, rows)}`,
        goals: goalsOf(measured, memories),
      }
    })
  } finally {
    generator.stop()
  }
}

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await exports(exportPlan(process.argv.includes('--quick')))
  publishFinding('export', 'An export, and what others notice', machine, found)
  process.exit(0)
}
