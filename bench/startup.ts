/**
 * How soon is the first answer after the process starts, and what does it hold while idle? Asked of
 * the built program, which `npm start` runs and the goals are for, and of the sources as they stand.
 *
 *   node bench/startup.ts [--quick]
 */
import { setTimeout } from 'node:timers/promises'
import { bearAll, MAIN, SOURCES, startHome } from './home.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, residentMB, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const MAX_MS = 200
const MAX_MB = 90
const MAX_LOADED_MB = 130
/** What start-up leaves behind is collected by then. */
const IDLE_MS = 2_000

interface Start {
  readonly firstAnswerMs: number
  readonly idleMB: number
  /** After a search and a token request of OAuth, each of which loads what it needs. */
  readonly loadedMB: number
}

async function load(url: URL): Promise<void> {
  const [born] = await bearAll(url, 1)
  const headers = { authorization: `Bearer ${born?.token}` }
  const found = await fetch(new URL('/api/agents/me/memories/search?q=plan', url), { headers })
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'none' })
  const refused = await fetch(new URL('/oauth/token', url), { method: 'POST', body })
  if (!found.ok || refused.status !== 400) throw new Error(`${found.status}, ${refused.status}`)
}

async function startOnce(directory: string, entry: string): Promise<Start> {
  const startedAt = performance.now()
  const { child, url } = await startHome(directory, entry)
  const answer = await fetch(new URL('/api/agents/preview', url))
  if (!answer.ok) throw new Error(`the first answer was ${answer.status}`)
  const firstAnswerMs = performance.now() - startedAt
  await setTimeout(IDLE_MS)
  const idleMB = residentMB(child.pid)
  await load(url)
  await setTimeout(IDLE_MS)
  const loadedMB = residentMB(child.pid)
  await stop(child)
  return { firstAnswerMs, idleMB, loadedMB }
}

const started = (entry: string, starts: number): Promise<Start[]> =>
  onDisk(async (directory) => {
    const measured: Start[] = []
    for (let i = 0; i < starts; i++) measured.push(await startOnce(directory, entry))
    return measured
  })

const rowsOf = (what: string, measured: readonly Start[]) =>
  measured.map((start, i) => [
    `${what}, ${i === 0 ? 'on an empty directory' : 'again'}`,
    start.firstAnswerMs.toFixed(0),
    start.idleMB.toFixed(1),
    start.loadedMB.toFixed(1),
  ])

function goalsOf(measured: readonly Start[]): Goal[] {
  const firstAnswer = median(measured.map((start) => start.firstAnswerMs))
  const idle = median(measured.map((start) => start.idleMB))
  const loaded = median(measured.map((start) => start.loadedMB))
  return [
    {
      goal: `first answer within ${MAX_MS} ms of process start`,
      measured: `${firstAnswer.toFixed(0)} ms`,
      met: firstAnswer <= MAX_MS,
    },
    {
      goal: `idle resident memory under ${MAX_MB} MB`,
      measured: `${idle.toFixed(0)} MB`,
      met: idle < MAX_MB,
    },
    {
      goal: `with search and OAuth loaded under ${MAX_LOADED_MB} MB`,
      measured: `${loaded.toFixed(0)} MB`,
      met: loaded < MAX_LOADED_MB,
    },
  ]
}

export async function startup(starts: number): Promise<Finding> {
  const built = await started(MAIN, starts)
  const source = await started(SOURCES, starts)
  const rows = [...rowsOf('built', built), ...rowsOf('from source', source)]
  const head = ['', 'first answer, ms', 'idle memory, MB', 'search and OAuth loaded, MB']
  return {
    part: `### start\n\n${markdownTable(head, rows)}`,
    goals: goalsOf(built),
  }
}

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await startup(process.argv.includes('--quick') ? 3 : 10)
  publishFinding('startup', 'The first answer, and memory while idle', machine, found)
}
