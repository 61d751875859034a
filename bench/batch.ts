/**
 * What does a batch save? Writes one by one and a hundred at a time, lists and batches of reads, on
 * the same service in turns.
 *
 *   node bench/batch.ts [--quick]
 */
import { type Ask, connectAll, gatherRates, rate } from './asking.ts'
import { bearAll, startHome } from './home.ts'
import { get, send } from './load/http.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const CONNECTIONS = 16
const IN_A_BATCH = 100
const TIMES = 4
const TEXT = 'x'.repeat(1_024)

const HOME = '/api/agents/me'

interface Way {
  readonly ask: Ask
  /** Memories written or read by one request. */
  readonly memories: number
  /** By how much each request takes its key’s version on. */
  readonly writes: number
}

const each = <T>(of: (n: number) => T): T[] => Array.from({ length: IN_A_BATCH }, (_, n) => of(n))

function waysOf(token: string): Readonly<Record<string, Way>> {
  const bearer = `Authorization: Bearer ${token}\r\n`
  const post = (path: string, body: object) =>
    send('POST', `${HOME}/${path}`, JSON.stringify(body), bearer)
  const batch = (operations: readonly object[]) => post('batch', { operations })
  return {
    'single writes': {
      ask: (key, expectedVersion) => post('memory', { key, text: TEXT, expectedVersion }),
      memories: 1,
      writes: 1,
    },
    'batches of 100 writes': {
      ask: (key, expectedVersion) =>
        batch(each((n) => ({ write: { key: `b.${key}.${n}`, text: TEXT, expectedVersion } }))),
      memories: IN_A_BATCH,
      writes: 1,
    },
    'single reads': {
      ask: (key) => get(`${HOME}/memory?key=b.${key}.0`, bearer),
      memories: 1,
      writes: 0,
    },
    'batches of 100 reads': {
      ask: (key) => batch(each((n) => ({ read: { key: `b.${key}.${n}` } }))),
      memories: IN_A_BATCH,
      writes: 0,
    },
    'lists of 100 summaries': {
      ask: (key) => get(`${HOME}/memories?prefix=b.${key}.&limit=100`, bearer),
      memories: IN_A_BATCH,
      writes: 0,
    },
  }
}

export interface BatchPlan {
  readonly rounds: number
  readonly ms: number
}

async function measure({ rounds, ms }: BatchPlan) {
  return onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    const [born] = await bearAll(url, 1)
    const rates = gatherRates()
    const ways = Object.entries(waysOf(born?.token ?? '')).map(([name, way]) => ({
      name,
      ...way,
      versions: Array.from({ length: CONNECTIONS }, () => 0),
    }))
    for (let round = 0; round <= rounds; round++) {
      for (const { name, ask, writes, memories, versions } of ways) {
        // Those of the others' turns would be closed, for they ask for nothing meanwhile.
        const connections = connectAll(url, versions)
        const { perSecond, cpuMicros } = await rate(connections, ask, writes, ms, child)
        for (const [n, { socket, version }] of connections.entries()) {
          versions[n] = version
          socket.destroy()
        }
        // The first warms up.
        if (round === 0) continue
        rates.add(name, { perSecond: perSecond * memories, cpuMicros: cpuMicros / memories })
      }
    }
    await stop(child)
    return ways.map(({ name }) => ({ name, ...rates.middle(name) }))
  })
}

export async function finding(plan: BatchPlan): Promise<Finding> {
  const found = await measure(plan)
  const perSecond = (name: string) => found.find((each) => each.name === name)?.perSecond ?? 0
  const ratio = perSecond('batches of 100 writes') / perSecond('single writes')
  const goal: Goal = {
    goal: `batches of ${IN_A_BATCH} writes: ${TIMES} times as many memories a second as single writes`,
    measured: ratio.toFixed(1),
    met: ratio >= TIMES,
  }
  const head = [`${CONNECTIONS} connections, texts of 1 KB`, 'memories/s', 'CPU µs each']
  const rows = found.map((each) => [
    each.name,
    each.perSecond.toFixed(0),
    each.cpuMicros.toFixed(1),
  ])
  return { part: `### batch\n\n${markdownTable(head, rows)}`, goals: [goal] }
}

export const batchPlan = (quick: boolean): BatchPlan =>
  quick ? { rounds: 1, ms: 500 } : { rounds: 3, ms: 3_000 }

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await finding(batchPlan(process.argv.includes('--quick')))
  publishFinding('batch', 'Batches and lists beside single requests', machine, found)
  process.exit(0)
}
