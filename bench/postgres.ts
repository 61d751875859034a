/**
 * Reads and durable compare-and-swap through HTTP on PostgreSQL, beside `pgbench` running the same
 * statements over as many connections on the same server; and two nodes beside one.
 *
 *   node bench/postgres.ts [--quick] [--pool 16] [--connections 64] [--nodes]
 */
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { readMemory } from '../src/store/postgres/memories/reads.ts'
import { updateMemory } from '../src/store/postgres/memories/write-memory.ts'
import { createPostgres, type PostgresServer } from '../test/postgres/server.ts'
import { bearAll, type RunningHome, startHomeOn } from './home.ts'
import { type Operation, type Sample, TEXT_BYTES, textOf } from './load/dialect.ts'
import { type Generator, startGenerator } from './load/handle.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { cpuSeconds, installed, LOAD_CORE, pinned, pinSelf, SERVER_CORE, stop } from './process.ts'
import { type Goal, markdownTable, publishFinding } from './result.ts'

const run = promisify(execFile)

const AGENTS = 64
const KEYS = 64
const GOALS = { read: 1.1, update: 0.9 } as const
const NODES_GOAL = 1.6
const SECOND_CORE = 2
/** PostgreSQL, two nodes and the load each on a core of its own. */
const CORES_FOR_TWO_NODES = 4
const cores = availableParallelism()
/** PostgreSQL has it alone; whoever asks, be it pgbench or Node.js with its load, shares the other. */
const DATABASE_CORE = cores >= CORES_FOR_TWO_NODES ? 3 : LOAD_CORE
const ASKING_CORE = cores >= CORES_FOR_TWO_NODES ? LOAD_CORE : SERVER_CORE

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    pool: { type: 'string', default: '16' },
    connections: { type: 'string', default: '64' },
    nodes: { type: 'boolean', default: cores >= CORES_FOR_TWO_NODES },
  },
})
const seconds = values.quick ? 1 : 5
const rounds = values.quick ? 1 : 5
const connections = Number(values.connections)

const operations = ['read', 'update'] as const satisfies readonly Operation[]
type Measured = (typeof operations)[number]

/** On which all that pgbench writes is counted: on another one the statement leaves it to the verb. */
const DAY = 1

/** pgbench names its variables in the text; each of its clients is an agent of its own. */
const filled = (text: string, parameters: readonly string[]): string =>
  `${text.replace(/\$(\d+)/g, (_, n) => parameters[Number(n) - 1] ?? '')};\n`

const AGENT = "('bench' || :client_id::TEXT)"
const TOKEN = "('token' || :client_id::TEXT)"

/** As long as what our server sends: an event without its id, a salt, and what it commits to. */
const HEX = 'ab'.repeat(32)
const SALT = `'\\x${HEX}'::BYTEA`
const BESIDE_ID = [
  `'{"by":{"as":"agent","via":"api"},"content":"${HEX}","createdAt":"2026-11-25T12:00:00.000Z","id":'`,
  `',"key":"k1","type":"write","version":'`,
]

const KEY = "('k' || :n::TEXT)"

const update = filled(updateMemory.text, [
  ...[AGENT, TOKEN, KEY, `'${textOf(1)}'`, "'{}'", `${TEXT_BYTES}`, `${TEXT_BYTES + 2}`],
  ...['false', `'{"as":"agent","via":"api"}'`, '1000', `${DAY}`, '0'],
  ...[...BESIDE_ID, SALT, SALT, ':v::BIGINT'],
])

/** A client updates its keys in turn, so that each statement meets other rows, as ours do. */
const scripts: Readonly<Record<Measured, string>> = {
  read: `\\set n random(1, ${KEYS})\n${filled(readMemory.text, [AGENT, TOKEN, KEY])}`,
  update: `\\set n :i % ${KEYS} + 1\n\\set v :i / ${KEYS} + 1\n${update}\\set i :i + 1\n`,
}

/** What pgbench's clients read and write: rows like ours, under names it can compute. */
const prepareRows = (text: string): string => `
  INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
    SELECT 'bench' || n, 'b', 'b', 'zerno', 'active', 0, 0 FROM generate_series(0, 255) n;
  INSERT INTO credentials (agent_id, token_hash, kind, status)
    SELECT 'bench' || n, 'token' || n, 'agent', 'active' FROM generate_series(0, 255) n;
  INSERT INTO homes (agent_id, memories, bytes, last_event, day, head, base)
    SELECT 'bench' || n, ${KEYS}, ${KEYS} * (${TEXT_BYTES} + 2), ${KEYS}, ${DAY}, ${SALT}, ${SALT}
    FROM generate_series(0, 255) n;
  INSERT INTO log (agent_id, n, kept, operation, key, version, memory_id, created_at, updated_at, bytes,
      size, metadata, text)
    SELECT 'bench' || n, k, true, 'write', 'k' || k, 1, 'id', 0, 0, ${TEXT_BYTES},
      ${TEXT_BYTES} + 2, '{}', '${text}'
    FROM generate_series(0, 255) n, generate_series(1, ${KEYS}) k;
  INSERT INTO memories
    SELECT agent_id, key, memory_id, version, created_at, updated_at, size, n, false, false FROM log
    WHERE agent_id LIKE 'bench%';`

/** Its clients count their versions from 1. */
const startAnew = `
  DELETE FROM log WHERE agent_id LIKE 'bench%' AND version > 1;
  UPDATE memories SET version = 1, n = substr(key, 2)::BIGINT WHERE agent_id LIKE 'bench%';`

/** A statement that finds nothing to change is quick, and says nothing. */
async function requireWritten(server: PostgresServer, tps: number): Promise<void> {
  const [row] = (await server.query(
    `SELECT sum(version - 1)::INT AS written FROM memories WHERE agent_id LIKE 'bench%'`,
  )) as [{ written: number }]
  if (row.written < tps * seconds * 0.9) throw new Error(`pgbench wrote ${row.written} versions`)
}

async function pgbench(
  server: PostgresServer,
  directory: string,
  operation: Measured,
): Promise<number> {
  if (operation === 'update') await server.query(startAnew)
  const script = join(directory, `${operation}.sql`)
  writeFileSync(script, scripts[operation])
  const options = ['-n', '-M', 'prepared', '-c', values.pool, '-j', '1', '-T', `${seconds}`]
  const command = ['pgbench', ...options, '-D', 'i=0', '-f', script, server.url('postgres')]
  const [program = '', ...args] = pinned(SERVER_CORE, command)
  const { stdout } = await run(program, args)
  const tps = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  if (operation === 'update') await requireWritten(server, tps)
  return tps
}

interface Round {
  readonly ours: Sample
  readonly theirs: number | undefined
}

/** Ours and pgbench in turns: what else the machine does falls on both. */
async function measure(
  server: PostgresServer,
  generator: Generator,
  home: RunningHome,
  directory: string,
  operation: Measured,
): Promise<Round[]> {
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const cell = { operation, connections, seconds }
    await generator.measure('ours', { ...cell, seconds: seconds / 4 })
    const before = cpuSeconds(home.child.pid) ?? 0
    const sample = await generator.measure('ours', cell)
    const spent = (cpuSeconds(home.child.pid) ?? 0) - before
    const ours = { ...sample, serverMicros: (spent * 1e6) / (sample.perSecond * seconds) }
    const theirs = installed('pgbench') ? await pgbench(server, directory, operation) : undefined
    found.push({ ours, theirs })
  }
  return found
}

const middle = (found: readonly Round[], of: (round: Round) => number): number =>
  median(found.map(of))

function rowOf(operation: string, found: readonly Round[]): string[] {
  const theirs = found.some((round) => round.theirs === undefined)
    ? 'not installed'
    : middle(found, (r) => r.theirs ?? 0).toFixed(0)
  const [perSecond, p50, p99] = (['perSecond', 'p50', 'p99'] as const).map((name) =>
    middle(found, ({ ours }) => ours[name]),
  )
  const failed = found.reduce((sum, { ours }) => sum + ours.failed, 0)
  const latencies = [p50, p99].map((ms) => (ms ?? 0).toFixed(1))
  const micros = middle(found, ({ ours }) => ours.serverMicros ?? 0).toFixed(0)
  return [operation, (perSecond ?? 0).toFixed(0), ...latencies, `${failed}`, micros, theirs]
}

function goalOf(operation: Measured, found: readonly Round[]): Goal[] {
  if (found.some(({ theirs }) => theirs === undefined)) return []
  const ratio = middle(found, ({ ours, theirs = 1 }) => ours.perSecond / theirs)
  const least = GOALS[operation]
  const goal = `${operation}: ${least} of pgbench, ${values.pool} database connections`
  return [{ goal, measured: ratio.toFixed(2), met: ratio >= least }]
}

async function introduce(generator: Generator, name: string, { url }: RunningHome): Promise<void> {
  const tokens = (await bearAll(url, AGENTS)).map(({ token }) => token)
  await generator.fill(name, { speaks: 'home', port: Number(url.port), tokens })
}

const startNode = (server: PostgresServer, core = SERVER_CORE): Promise<RunningHome> =>
  startHomeOn(`${server.url('postgres')}?pool_max=${values.pool}`, core)

/** The load over one node, and over two at once that share it; answers a second. */
async function beside(generator: Generator, operation: Measured) {
  const one = { operation, connections, seconds }
  const half = { ...one, connections: connections / 2 }
  const alone = await generator.measure('ours', one)
  const both = await Promise.all(['ours', 'second'].map((name) => generator.measure(name, half)))
  return { alone: alone.perSecond, both: both.reduce((sum, { perSecond }) => sum + perSecond, 0) }
}

async function twoNodes(server: PostgresServer, generator: Generator): Promise<Goal[]> {
  const second = await startNode(server, SECOND_CORE)
  try {
    await introduce(generator, 'second', second)
    const goals: Goal[] = []
    for (const operation of operations) {
      const turns = []
      for (let round = 0; round < rounds; round++) turns.push(await beside(generator, operation))
      const ratio = median(turns.map(({ alone, both }) => both / alone))
      const goal = `${operation}: two nodes ${NODES_GOAL} times one`
      goals.push({ goal, measured: ratio.toFixed(2), met: ratio >= NODES_GOAL })
    }
    return goals
  } finally {
    await stop(second.child)
  }
}

async function onServer(server: PostgresServer, directory: string) {
  execFileSync('taskset', ['-cp', `${DATABASE_CORE}`, `${server.pid()}`])
  const home = await startNode(server)
  const generator = startGenerator(ASKING_CORE)
  try {
    await server.query(prepareRows(textOf(1)))
    await server.query('VACUUM ANALYZE')
    await introduce(generator, 'ours', home)
    const read = await measure(server, generator, home, directory, 'read')
    const update = await measure(server, generator, home, directory, 'update')
    const nodes = values.nodes ? await twoNodes(server, generator) : []
    return { read, update, nodes }
  } finally {
    generator.stop()
    await stop(home.child)
  }
}

async function compare() {
  return onDisk(async (directory) => {
    const server = await createPostgres()
    await server.start()
    try {
      return await onServer(server, directory)
    } finally {
      await server.remove()
    }
  })
}

pinSelf()
const machine = await describeMachine()
const found = await compare()
const head = [
  'through HTTP',
  'answers/s',
  'p50 ms',
  'p99 ms',
  'failed',
  'node CPU µs',
  'pgbench tps',
]
publishFinding(
  'postgres',
  'On PostgreSQL, beside pgbench',
  [
    ...machine,
    `PostgreSQL 18 on core ${DATABASE_CORE}, Node.js and pgbench in turns on core ${SERVER_CORE}, the load on core ${ASKING_CORE}`,
    `${connections} HTTP connections, ${values.pool} to the database; texts of ${TEXT_BYTES} bytes; medians of ${rounds} rounds of ${seconds} s`,
  ],
  {
    part: [
      markdownTable(
        head,
        operations.map((operation) => rowOf(operation, found[operation])),
      ),
      values.nodes
        ? ''
        : `Two nodes at least ${NODES_GOAL} times one: not measured. It takes ${CORES_FOR_TWO_NODES} cores, and here are ${cores}.`,
    ].join('\n\n'),
    goals: [
      ...operations.flatMap((operation) => goalOf(operation, found[operation])),
      ...found.nodes,
    ],
  },
)
process.exit(0)
