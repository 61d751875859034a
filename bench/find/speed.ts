/** How long a question takes, warm and cold, and what others wait meanwhile. */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { bearAll, type RunningHome, startHome } from '../home.ts'
import { median, quantile } from '../load/sample.ts'
import { cpuSeconds, residentMB, stop } from '../process.ts'
import { type Finding, type Goal, markdownTable } from '../result.ts'
import { type Client, type Note, searchPath, timed, writeAll } from './client.ts'
import { questionOf, textOf } from './texts.ts'

export interface SpeedPlan {
  /** Questions to the home of 1,000, and half as many to that of 10,000. */
  readonly times: number
  /** Homes that are asked their first question. */
  readonly cold: number
  /** How often the index of the home at its bounds is built. */
  readonly built: number
}

const FEW = 1_000
const MANY = 10_000
const KB = 1_024
/** More than they take. */
const METADATA_BYTES = 64
/** 64 MiB with their metadata. */
const AT_BOUNDS_BYTES = Math.floor((64 * 1_048_576) / MANY) - METADATA_BYTES

/** Milliseconds. */
const MOST = {
  few: 20,
  many: 50,
  cold: 100,
  bounds: 2_000,
  context: 5,
  others: 10,
} as const

const WARMED_BY = 50
const LIMIT = 20
const READ = 'memory?key=note.1'

const notes = (count: number, bytes: number): Note[] =>
  Array.from({ length: count }, (_, n) => {
    const metadata = { run: n, pinned: n % 200 === 0 }
    return { key: `note.${n}`, text: textOf(n, bytes), metadata }
  })

const ask = (client: Client) => (n: number) => timed(client, searchPath(questionOf(n), LIMIT))

async function repeat(times: number, ask: (n: number) => Promise<number>): Promise<number[]> {
  const taken: number[] = []
  for (let n = 0; n < times; n++) taken.push(await ask(n))
  return taken
}

/** Milliseconds between the reads of an agent beside a build: without, it would take half the core. */
const PAUSE = 10

/** Reads of another agent for as long as the work goes on. */
async function readsBeside(
  other: Client,
  work: () => Promise<unknown>,
  pause = 0,
): Promise<number[]> {
  const taken: number[] = []
  let over = false
  const working = work().finally(() => {
    over = true
  })
  while (!over) {
    taken.push(await timed(other, READ))
    if (pause > 0) await wait(pause)
  }
  await working
  return taken
}

interface Homes {
  readonly few: string
  readonly many: string
  readonly bounds: string
  readonly other: string
  readonly cold: readonly string[]
}

/** Tokens of the homes that are measured, written. */
async function fill(url: URL, cold: number): Promise<Homes> {
  const tokens = (await bearAll(url, 4 + cold)).map(({ token }) => token)
  const [few = '', many = '', bounds = '', other = '', ...others] = tokens
  for (const token of [few, ...others]) await writeAll({ url, token }, notes(FEW, KB))
  await writeAll({ url, token: many }, notes(MANY, KB))
  await writeAll({ url, token: bounds }, notes(MANY, AT_BOUNDS_BYTES))
  await writeAll({ url, token: other }, notes(2, KB))
  return { few, many, bounds, other, cold: others }
}

async function measureWarm({ child, url }: RunningHome, homes: Homes, times: number) {
  const client = (token: string): Client => ({ url, token })
  const [few, many, other] = [homes.few, homes.many, homes.other].map(client)
  if (!few || !many || !other) throw new Error('nobody was born')
  const spent = async (work: () => Promise<number[]>) => {
    const before = cpuSeconds(child.pid) ?? 0
    const taken = await work()
    const cpuMs = ((cpuSeconds(child.pid) ?? 0) - before) * 1_000
    return { taken, cpuMs: cpuMs / taken.length }
  }
  const idleMB = residentMB(child.pid)
  await repeat(WARMED_BY, ask(few))
  const heldMB = residentMB(child.pid) - idleMB
  const searches = await spent(() => repeat(times, ask(few)))
  const contexts = await spent(() => repeat(times, () => timed(few, 'context')))
  const quiet = await repeat(times, () => timed(other, READ))
  const beside = await readsBeside(other, () => repeat(times, ask(few)))
  await repeat(WARMED_BY / 2, ask(many))
  const ofMany = await spent(() => repeat(times / 2, ask(many)))
  const besideMany = await readsBeside(other, () => repeat(times / 2, ask(many)))
  return { searches, contexts, quiet, beside, ofMany, besideMany, heldMB }
}

/** Milliseconds: the search starts with the first request, and is ready a moment later. */
const STARTING = 1_000

/** The first question to each of some homes after a start. */
async function measureCold({ url }: RunningHome, { cold, other }: Homes): Promise<number[]> {
  await timed({ url, token: other }, READ)
  await wait(STARTING)
  return repeat(cold.length, (n) => ask({ url, token: cold[n] ?? '' })(n))
}

/** The first question to a home at its bounds, and what another agent's reads wait meanwhile. */
async function measureBuild({ url }: RunningHome, { bounds, other }: Homes) {
  await repeat(WARMED_BY, () => timed({ url, token: other }, READ))
  await wait(STARTING)
  let first = 0
  const build = async () => {
    first = await ask({ url, token: bounds })(0)
  }
  const reads = await readsBeside({ url, token: other }, build, PAUSE)
  return { first, reads }
}

/** What no index of these texts takes less than: FTS5 is given all of them, and asked for nothing. */
function measureBare(): number {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'ascii')`)
  const insert = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)')
  const texts = notes(MANY, AT_BOUNDS_BYTES).map(({ text }) => text)
  const start = performance.now()
  db.exec('BEGIN')
  for (const [n, text] of texts.entries()) insert.run(n + 1, text)
  db.exec('COMMIT')
  const taken = performance.now() - start
  db.close()
  return taken
}

async function afterStart<T>(directory: string, work: (home: RunningHome) => Promise<T>) {
  const home = await startHome(directory)
  try {
    return await work(home)
  } finally {
    await stop(home.child)
  }
}

async function measure(directory: string, { times, cold, built }: SpeedPlan) {
  const homes = await afterStart(directory, ({ url }) => fill(url, cold))
  const warm = await afterStart(directory, (home) => measureWarm(home, homes, times))
  const firsts = await afterStart(directory, (home) => measureCold(home, homes))
  const builds: { first: number; reads: number[] }[] = []
  for (let n = 0; n < built; n++) {
    builds.push(await afterStart(directory, (home) => measureBuild(home, homes)))
  }
  return {
    ...warm,
    cold: firsts,
    bare: await repeat(built, async () => measureBare()),
    built: builds.map(({ first }) => first),
    besideBuild: builds.flatMap(({ reads }) => reads),
  }
}

const p99 = (taken: readonly number[]): number =>
  quantile(
    taken.toSorted((a, b) => a - b),
    0.99,
  )

const under = (name: string, how: string, measured: number, most: number): Goal => ({
  goal: `${name}: ${how} under ${most} ms`,
  measured: `${measured.toFixed(1)} ms`,
  met: measured < most,
})

export async function speed(directory: string, plan: SpeedPlan): Promise<Finding> {
  const found = await measure(directory, plan)
  const { searches, contexts, ofMany, beside, besideMany, besideBuild } = found
  const taken = {
    'question to 1,000 memories': searches.taken,
    'question to 10,000 memories': ofMany.taken,
    'first question to a cold home of 1,000': found.cold,
    'first question to 10,000 memories, 64 MiB': found.built,
    'FTS5 alone, given these 64 MiB': found.bare,
    'context of 1,000 memories': contexts.taken,
    'read, quiet': found.quiet,
    'read beside questions to 1,000': beside,
    'read beside questions to 10,000': besideMany,
    'read while 64 MiB are indexed': besideBuild,
  }
  const rows = Object.entries(taken).map(([name, each]) => [
    name,
    `${each.length}`,
    ...[median(each), p99(each), Math.max(...each)].map((ms) => ms.toFixed(1)),
  ])
  const table = markdownTable(['memories of 1 KB, ms', 'times', 'p50', 'p99', 'worst'], rows)
  const costs = `Processor time: a question to 1,000 memories ${searches.cpuMs.toFixed(1)} ms, to 10,000 ${ofMany.cpuMs.toFixed(1)} ms, a context ${contexts.cpuMs.toFixed(1)} ms. After the first questions to 1,000 the process holds ${found.heldMB.toFixed(0)} MB more.`
  return {
    part: `${table}\n\n${costs}`,
    goals: [
      under('question to 1,000 memories', 'p99', p99(searches.taken), MOST.few),
      under('question to 10,000 memories', 'p99', p99(ofMany.taken), MOST.many),
      under('first question to a cold home of 1,000', 'worst', Math.max(...found.cold), MOST.cold),
      under('first question to 64 MiB', 'worst', Math.max(...found.built), MOST.bounds),
      under('context of 1,000 memories', 'p99', p99(contexts.taken), MOST.context),
      under('others beside questions to 1,000', 'p99', p99(beside), MOST.others),
      under('others beside questions to 10,000', 'p99', p99(besideMany), MOST.others),
      under('others while 64 MiB are indexed', 'p99', p99(besideBuild), MOST.others),
    ],
  }
}
