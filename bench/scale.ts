/**
 * How many bytes do an agent, a memory, an earlier version and an event take, on both engines? They
 * come by the store's own verbs, called in this process. Then the program serves the database, a
 * sample is read through it, and `agent-home verify` checks the embedded one whole.
 *
 *   node bench/scale.ts [--quick] [--agents 200000]
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import pg from 'pg'
import { hashToken, tokenFrom } from '../src/pipeline/tokens.ts'
import { openStore } from '../src/store/open.ts'
import type { Identity } from '../src/store/port/identity.ts'
import type { Store, StoreOptions } from '../src/store/port/store.ts'
import { processTimers } from '../src/timers.ts'
import { newId } from '../src/uuid.ts'
import { createPostgres } from '../test/postgres/server.ts'
import { MAIN, startHomeOn } from './home.ts'
import { TEXT_BYTES, textOf } from './load/dialect.ts'
import { describeMachine, onDisk } from './machine.ts'
import { SERVER_CORE, stop } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'

const run = promisify(execFile)

export const scalePlan = (quick: boolean, agents?: number): number =>
  agents ?? (quick ? 2_000 : 200_000)

/** How many are read through the program. */
const SAMPLE = 1_000

/** Each engine answers as many at once as nearly as fast as more. */
const AT_ONCE = 64

export const options: StoreOptions = {
  home: { memories: 0, bytes: 0, versions: 0, events: 0 },
  feed: { entries: 0, bytes: 0 },
  searchCache: 0,
  diskReserve: 0,
  timers: processTimers,
}

export const noLimits = { perAddress: 0, perNetwork: 0, inAll: 0, windowMs: 3_600_000 }

const secretOf = (kind: string, n: number): Buffer =>
  createHash('sha256').update(`${kind} ${n}`).digest()

const tokenOf = (n: number): string => tokenFrom('agent', secretOf('agent', n))

interface Member {
  readonly n: number
  readonly identity: Identity
}

const idNow = (): string => newId(Date.now(), randomBytes)

export const memberOf = (n: number): Member => ({
  n,
  identity: {
    ...{ agentId: idNow(), kind: 'agent', status: 'active' },
    tokenHash: hashToken(tokenOf(n)),
  },
})

const hex = (): string => (randomUUID() + randomUUID()).replaceAll('-', '')

export const birthOf = ({ n, identity: { agentId, tokenHash } }: Member) => ({
  ...{ agentId, name: `Agent ${n}`, purpose: 'Remembers for its person.', symbol: 'zerno' },
  ...{ agentTokenHash: tokenHash, operatorTokenHash: hashToken(`${n}`), keyHash: hex() },
  ...{ fingerprint: hex(), salt: hex(), bornFrom: '192.0.2.1' },
})

const write = (store: Store, { n, identity }: Member, expectedVersion: number) =>
  store.writeMemory(
    identity,
    { id: idNow(), key: 'plan', text: textOf(n), metadata: '{}', expectedVersion },
    Date.now(),
  )

/** What comes one for each agent, in this order, and what must come of it. */
const STAGES = [
  ['an agent', (store: Store, m: Member) => store.bear(birthOf(m), noLimits, Date.now()), 'born'],
  ['a memory', (store: Store, m: Member) => write(store, m, 0), 'saved'],
  ['an earlier version', (store: Store, m: Member) => write(store, m, 1), 'saved'],
  [
    'an event alone',
    async (store: Store, { identity }: Member) => ({
      outcome: (await store.recordEvent(identity, 'export', Date.now())) ? 'logged' : 'refused',
    }),
    'logged',
  ],
] as const

interface Filled {
  readonly what: string
  readonly bytes: number
  readonly perSecond: number
}

/** Workers take the members in turn. */
async function each(members: readonly Member[], work: (member: Member) => Promise<void>) {
  const left = members.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const member of left) await work(member)
    }),
  )
}

async function fill(
  url: string,
  members: readonly Member[],
  bytesOf: () => Promise<number>,
): Promise<Filled[]> {
  const filled: Filled[] = []
  for (const [what, come, expected] of STAGES) {
    const store = await openStore(url, Date.now(), options)
    const before = await bytesOf()
    const since = performance.now()
    await each(members, async (member) => {
      const { outcome } = await come(store, member)
      if (outcome !== expected) throw new Error(`${what}: ${outcome}`)
    })
    const seconds = (performance.now() - since) / 1_000
    await store.close()
    const bytes = ((await bytesOf()) - before) / members.length
    const perSecond = members.length / seconds
    filled.push({ what, bytes, perSecond })
    process.stderr.write(`${what}: ${bytes.toFixed(0)} bytes, ${perSecond.toFixed(0)} a second\n`)
  }
  return filled
}

interface Engine {
  readonly filled: readonly Filled[]
  /** Until the first answer on the full database. */
  readonly startMs: number
  /** How many of the sample said what was written. */
  readonly read: number
}

/** The program on the full database. */
async function serveSample(url: string, members: readonly Member[]) {
  const since = performance.now()
  const { child, url: address } = await startHomeOn(url, SERVER_CORE, MAIN)
  const startMs = performance.now() - since
  let read = 0
  const step = Math.max(1, Math.floor(members.length / SAMPLE))
  for (let n = 0; n < members.length; n += step) {
    const answer = await fetch(new URL('/api/agents/me/memory?key=plan', address), {
      headers: { authorization: `Bearer ${tokenOf(n)}` },
    })
    const { memory } = (await answer.json()) as { memory?: { text: string; version: number } }
    if (memory?.version === 2 && memory.text === textOf(n)) read++
  }
  await stop(child)
  return { startMs, read, of: Math.ceil(members.length / step) }
}

async function onSqlite(members: readonly Member[]) {
  return onDisk(async (directory) => {
    const path = join(directory, 'home.db')
    const url = `sqlite:${path}`
    const size = async () => statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const filled = await fill(url, members, size)
    const served = await serveSample(url, members)
    const since = performance.now()
    await run(process.execPath, [MAIN, 'verify', path])
    const verifySeconds = (performance.now() - since) / 1_000
    return { filled, ...served, verifySeconds, bytes: await size() }
  })
}

async function onPostgres(members: readonly Member[]) {
  const server = await createPostgres()
  try {
    await server.start()
    const url = `${server.url('postgres')}?pool_max=16`
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const size = async () => {
      await client.query('VACUUM ANALYZE')
      const { rows } = await client.query('SELECT pg_database_size(current_database()) AS bytes')
      return Number(rows[0].bytes)
    }
    const filled = await fill(url, members, size)
    const served = await serveSample(url, members)
    const bytes = await size()
    await client.end()
    return { filled, ...served, bytes }
  } finally {
    await server.remove()
  }
}

const MB = 1e6

export async function scale(agents: number): Promise<Finding> {
  const members = Array.from({ length: agents }, (_, n) => memberOf(n))
  const sqlite = await onSqlite(members)
  const postgres = await onPostgres(members)
  const figures = (engine: Pick<Engine, 'filled'>, at: number) => [
    (engine.filled[at]?.bytes ?? 0).toFixed(0),
    (engine.filled[at]?.perSecond ?? 0).toFixed(0),
  ]
  const rows = STAGES.map(([what], at) => [what, ...figures(sqlite, at), ...figures(postgres, at)])
  const head = [`${agents} of each, texts of ${TEXT_BYTES} bytes`]
  for (const engine of ['SQLite', 'PostgreSQL']) head.push(`bytes on ${engine}`, 'a second')
  const whole = [
    ['in all, MB', (sqlite.bytes / MB).toFixed(0), (postgres.bytes / MB).toFixed(0)],
    ['start of the program, ms', sqlite.startMs.toFixed(0), postgres.startMs.toFixed(0)],
    ['agent-home verify, s', sqlite.verifySeconds.toFixed(1), ''],
  ]
  const goals: Goal[] = Object.entries({ sqlite, postgres }).map(([name, { read, of }]) => ({
    goal: `the program reads a sample of what was filled on ${name}`,
    measured: `${read} of ${of}`,
    met: read === of,
  }))
  const part = [
    '### scale',
    markdownTable(head, rows),
    markdownTable(['then', 'SQLite', 'PostgreSQL'], whole),
  ]
  return { part: part.join('\n\n'), goals }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, agents: { type: 'string' } },
  })
  const machine = await describeMachine()
  const agents = scalePlan(values.quick, values.agents ? Number(values.agents) : undefined)
  publishFinding('scale', 'What is kept, in bytes', machine, await scale(agents))
  process.exit(0)
}
