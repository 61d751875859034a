/** The thread of test/counted.ts: its counters run before any module of ours is compiled. */
import { Session } from 'node:inspector/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Reply } from './counted.ts'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/** Since it was last asked, in our sources and in what they import of others. */
async function stepsTaken(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  let steps = 0
  for (const { url, functions } of result) {
    if (!url.startsWith('file:') || url === import.meta.url) continue
    for (const { ranges } of functions) for (const { count } of ranges) steps += count
  }
  return steps
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}

/** To look takes long: turns of the event loop that take no longer than this are counted together. */
const TOGETHER_MS = 1

/** Ends what was begun, with what it found. */
let end: () => Promise<unknown> = async () => undefined

const begin = {
  async longestTurn() {
    const longest = { steps: 0, whole: 0, ms: 0 }
    let done = false
    await stepsTaken()
    const look = async () => {
      const steps = await stepsTaken()
      longest.steps = Math.max(longest.steps, steps)
      longest.whole += steps
    }
    const watching = (async () => {
      for (let lookedAt = performance.now(); !done; ) {
        const from = performance.now()
        await new Promise(setImmediate)
        const now = performance.now()
        longest.ms = Math.max(longest.ms, now - from)
        if (now - lookedAt < TOGETHER_MS) continue
        await look()
        lookedAt = performance.now()
      }
      await look()
    })()
    end = async () => {
      done = true
      await watching
      return longest
    }
  },
  async processorMs() {
    const before = processorMs()
    end = async () => processorMs() - before
  },
}

const module = (await import(workerData)) as Record<string, (...args: unknown[]) => unknown>

async function answer(asked: Asked): Promise<unknown> {
  if ('begins' in asked) return asked.begins ? begin[asked.what]() : end()
  const work = module[asked.name]
  if (!work) throw new Error(`${workerData} exports no ${asked.name}`)
  if (asked.what === 'ask') return work(...asked.args)
  await stepsTaken()
  await work(...asked.args)
  return stepsTaken()
}

parentPort?.on('message', async (asked: Asked) => {
  const reply: Reply = await answer(asked).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  )
  parentPort?.postMessage(reply)
})
