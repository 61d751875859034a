/**
 * How soon is the first answer after the process starts, and what does it hold while idle?
 *
 *   node bench/startup.ts [--quick]
 */
import { setTimeout } from 'node:timers/promises'
import { startHome } from './home.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, residentMB, stop } from './process.ts'
import { type Finding, markdownTable, publishFinding } from './result.ts'

const MAX_MS = 500
const MAX_MB = 100
/** What start-up leaves behind is collected by then. */
const IDLE_MS = 2_000

interface Start {
  readonly firstAnswerMs: number
  readonly idleMB: number
}

async function startOnce(directory: string): Promise<Start> {
  const startedAt = performance.now()
  const { child, url } = await startHome(directory)
  const answer = await fetch(new URL('/api/agents/preview', url))
  if (!answer.ok) throw new Error(`the first answer was ${answer.status}`)
  const firstAnswerMs = performance.now() - startedAt
  await setTimeout(IDLE_MS)
  const idleMB = residentMB(child.pid)
  await stop(child)
  return { firstAnswerMs, idleMB }
}

export const startup = (starts: number): Promise<Finding> =>
  onDisk(async (directory) => {
    const measured: Start[] = []
    for (let i = 0; i < starts; i++) measured.push(await startOnce(directory))
    const firstAnswer = median(measured.map((start) => start.firstAnswerMs))
    const idle = median(measured.map((start) => start.idleMB))
    const rows = measured.map((start, i) => [
      i === 0 ? 'on an empty directory' : 'again',
      start.firstAnswerMs.toFixed(0),
      start.idleMB.toFixed(1),
    ])
    return {
      part: `### start\n\n${markdownTable(['', 'first answer, ms', 'idle memory, MB'], rows)}`,
      goals: [
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
      ],
    }
  })

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await startup(process.argv.includes('--quick') ? 3 : 10)
  publishFinding('startup', 'The first answer, and memory while idle', machine, found)
}
