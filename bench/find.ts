/**
 * Does a question in a sentence find what answers it? Over a home of 1,000 memories of 1 KB: how
 * long do a search and a context take, and what do others wait who read meanwhile?
 *
 *   node bench/find.ts [--quick]
 *
 * LOCOMO names a directory that holds the public set where it is not to be downloaded.
 */
import { recall } from './find/recall.ts'
import { bearAll, startHome } from './home.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { cpuSeconds, pinSelf, residentMB, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const MEMORIES = 1_000
const TEXT_BYTES = 1_024
const AT_ONCE = 50
const MOST = { search: 20, context: 5, others: 10 } as const

const WORDS =
  'plan table copy migration release server error deploy memory budget garden river вода зірка памʼять дорога'.split(
    ' ',
  )

/** Each word of these is in many of the texts, and in some of them all are. */
const queries = ['deploy', 'budget migration error', 'зірка', 'мят', 'absent'] as const

function textOf(n: number): string {
  let text = ''
  for (let i = n + 1; Buffer.byteLength(text) < TEXT_BYTES; i = (i * 48_271) % 2_147_483_647) {
    text += `${WORDS[i % WORDS.length]}${i % 7 === 0 ? i : ''} `
  }
  return text
}

interface Client {
  readonly url: URL
  readonly token: string
}

async function get({ url, token }: Client, path: string): Promise<number> {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(`/api/agents/me/${path}`, url), { headers })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
  return performance.now() - startedAt
}

async function put({ url, token }: Client, n: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const metadata = { run: n, pinned: n % 200 === 0 }
  const body = JSON.stringify({ key: `note.${n}`, text: textOf(n), metadata, expectedVersion: 0 })
  const response = await fetch(new URL('/api/agents/me/memory', url), {
    method: 'POST',
    headers,
    body,
  })
  if (!response.ok) throw new Error(`a write was answered ${response.status}`)
  await response.arrayBuffer()
}

async function fill(client: Client): Promise<void> {
  for (let from = 0; from < MEMORIES; from += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => put(client, from + i)))
  }
}

async function repeat(times: number, ask: (n: number) => Promise<number>): Promise<number[]> {
  const taken: number[] = []
  for (let n = 0; n < times; n++) taken.push(await ask(n))
  return taken
}

const search = (client: Client) => (n: number) =>
  get(client, `memories/search?q=${encodeURIComponent(queries[n % queries.length] ?? '')}`)

/** Reads of another agent for as long as the work goes on. */
async function readsBeside(other: Client, work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = []
  let over = false
  const working = work().finally(() => {
    over = true
  })
  while (!over) taken.push(await get(other, 'memory?key=note.1'))
  await working
  return taken
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

async function measure(times: number) {
  return onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    const [mine, other] = (await bearAll(url, 2)).map(({ token }) => ({ url, token }))
    if (!mine || !other) throw new Error('nobody was born')
    await fill(mine)
    await put(other, 1)
    const idleMB = residentMB(child.pid)
    await repeat(50, search(mine))
    const threadMB = residentMB(child.pid) - idleMB
    const spent = async (work: () => Promise<unknown>) => {
      const before = cpuSeconds(child.pid) ?? 0
      await work()
      return (((cpuSeconds(child.pid) ?? 0) - before) * 1_000) / times
    }
    let searches: number[] = []
    let contexts: number[] = []
    const searchCpuMs = await spent(async () => {
      searches = await repeat(times, search(mine))
    })
    const contextCpuMs = await spent(async () => {
      contexts = await repeat(times, () => get(mine, 'context'))
    })
    const quiet = await repeat(times, () => get(other, 'memory?key=note.1'))
    const beside = await readsBeside(other, () => repeat(times, search(mine)))
    await stop(child)
    return { searches, contexts, quiet, beside, searchCpuMs, contextCpuMs, threadMB }
  })
}

const goal = (name: string, taken: readonly number[], most: number): Goal => {
  const p99 = percentile(taken, 0.99)
  return {
    goal: `${name}: p99 under ${most} ms`,
    measured: `${p99.toFixed(1)} ms`,
    met: p99 < most,
  }
}

const recallOnDisk = (): Promise<Finding> =>
  onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    try {
      return await recall(url)
    } finally {
      await stop(child)
    }
  })

export async function finding(times: number): Promise<Finding> {
  const answered = await recallOnDisk()
  const { searches, contexts, quiet, beside, searchCpuMs, contextCpuMs, threadMB } =
    await measure(times)
  const rows = Object.entries({
    search: searches,
    context: contexts,
    'a read, quiet': quiet,
    'a read beside searches': beside,
  }).map(([name, taken]) => [name, median(taken).toFixed(1), percentile(taken, 0.99).toFixed(1)])
  const table = markdownTable(['1,000 memories of 1 KB, ms', 'p50', 'p99'], rows)
  const costs = `Processor time, the client’s request included: a search ${searchCpuMs.toFixed(1)} ms, a context ${contextCpuMs.toFixed(1)} ms. The searching thread holds ${threadMB.toFixed(0)} MB while it runs.`
  return {
    part: `### find\n\n${answered.part}\n\n${table}\n\n${costs}`,
    goals: [
      ...answered.goals,
      goal('search', searches, MOST.search),
      goal('context', contexts, MOST.context),
      goal('others beside searches', beside, MOST.others),
    ],
  }
}

export const findPlan = (quick: boolean): number => (quick ? 100 : 1_000)

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await finding(findPlan(process.argv.includes('--quick')))
  publishFinding('find', 'Searches and contexts, and what others notice', machine, found)
  process.exit(0)
}
