/**
 * Ours beside a bare server, SQLite alone and the peers that are installed: one table, and the
 * goals with their measured ratios.
 */
import { mkdtempSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { finding as batchFinding, batchPlan } from './batch.ts'
import type { Contestant, Running } from './contestants/contestant.ts'
import { contestants } from './contestants/index.ts'
import { exportPlan, exports } from './export.ts'
import { finding, findPlan } from './find.ts'
import { tableGoals } from './goals.ts'
import { growth, growthPlan } from './growth.ts'
import { importPlan, imports } from './import.ts'
import { isolation } from './isolation.ts'
import type { Operation } from './load/dialect.ts'
import { type Generator, startGenerator } from './load/handle.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk, syncMs } from './machine.ts'
import { finding as mcpFinding, mcpPlan } from './mcp.ts'
import { pinSelf } from './process.ts'
import { type Finding, goalsTable, publish, show } from './result.ts'
import { scale, scalePlan } from './scale.ts'
import { startup } from './startup.ts'
import {
  COMPARED,
  type Measured,
  medians,
  READ_CONNECTIONS,
  sideBySide,
  tables,
  WRITE_CONNECTIONS,
} from './table.ts'

const USAGE = `npm run bench -- [--quick] [--only name,name] [--operations read,update]
                 [--connections 1,64] [--rounds 3] [--seconds 2] [--results directory]
npm run bench -- peers [--only name,name] [--rounds 3] [--seconds 2] [--results directory]
npm run bench -- find [growth …] [--quick] [--results directory]
npm run bench -- scale [--agents 200000]`

const OPERATIONS: readonly Operation[] = ['create', 'update', 'hot', 'read']

/** Where the goals are set. */
const goalConnections = (operation: Operation): readonly number[] =>
  operation === 'read' ? [READ_CONNECTIONS] : [WRITE_CONNECTIONS]

const allConnections = (operation: Operation): readonly number[] =>
  [...new Set([1, 16, 64, 256, ...goalConnections(operation)])].toSorted((a, b) => a - b)

/** The part of the table that compares ours with its peers. */
const PEERS = 'peers'

interface Plan {
  readonly quick: boolean
  /** How many `scale` fills a database with. */
  readonly agents: number | undefined
  /** Where the result is written; bench/results unless told. */
  readonly results: string | undefined
  /** What is measured alone: by the names of its scripts, without the table, or its peers alone. */
  readonly alone: readonly string[]
  /** The table is measured, or what of it was asked for. */
  readonly table: boolean
  /** Nothing was left out. */
  readonly whole: boolean
  readonly competing: readonly Contestant[]
  readonly operations: readonly Operation[]
  readonly connectionsFor: (operation: Operation) => readonly number[]
  readonly rounds: number
  readonly seconds: number
}

/** Ours and its peers, side by side. */
const comparable = contestants.filter(({ synced }) => synced !== undefined)

const list = (text: string | undefined): string[] | undefined => text?.split(',')

function planOf(args: string[]): Plan {
  const { values, positionals: alone } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      operations: { type: 'string' },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      results: { type: 'string' },
      agents: { type: 'string' },
    },
  })
  const { quick } = values
  const peers = alone.includes(PEERS)
  const agents = values.agents === undefined ? undefined : Number(values.agents)
  const parts = partsOf(quick, agents)
  const unknown = alone.find((name) => name !== PEERS && !Object.hasOwn(parts, name))
  if (unknown) throw new Error(`There is no part "${unknown}".`)
  const only = list(values.only)
  const wanted = list(values.operations)
  const compared = (operation: Operation): number[] =>
    COMPARED.flatMap(([each, connections]) => (each === operation ? [connections] : []))
  return {
    quick,
    agents,
    results: values.results,
    alone,
    table: peers || alone.length === 0,
    whole: !(peers || values.only || values.operations || values.connections),
    competing: (peers ? comparable : contestants).filter(
      ({ name }) => only?.some((o) => name.startsWith(o)) ?? true,
    ),
    operations: OPERATIONS.filter((operation) => wanted?.includes(operation) ?? true),
    connectionsFor: (operation) =>
      list(values.connections)?.map(Number) ??
      (peers ? compared : quick ? goalConnections : allConnections)(operation),
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (quick ? 0.5 : 2)),
  }
}

interface Standing {
  readonly contestant: Contestant
  readonly running: Running
}

const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

async function startAll({ competing }: Plan, generator: Generator, directory: string) {
  const standing: Standing[] = []
  for (const contestant of competing) {
    const missing = await contestant.missing()
    if (missing) {
      say(`without ${contestant.name}: ${missing} is not installed`)
      continue
    }
    say(`starting ${contestant.name}`)
    const own = mkdtempSync(join(directory, 'contestant-'))
    standing.push({ contestant, running: await contestant.start(own, generator) })
  }
  return standing
}

interface Measurements {
  readonly measured: readonly Measured[]
  /** Milliseconds of one fsync: the disk's turn comes with the contestants'. */
  readonly sync: number
}

/** Everyone's turn at one cell comes before anyone's turn at the next. */
async function compete(plan: Plan, standing: readonly Standing[]): Promise<Measurements> {
  const measured: Measured[] = []
  const syncs: number[] = []
  for (let round = 1; round <= plan.rounds; round++) {
    syncs.push(await onDisk(syncMs))
    for (const operation of plan.operations) {
      for (const connections of plan.connectionsFor(operation)) {
        say(`round ${round} of ${plan.rounds}: ${operation}, ${connections} connections`)
        for (const { contestant, running } of standing) {
          if (!(contestant.operations?.includes(operation) ?? true)) continue
          const cell = { operation, connections, seconds: plan.seconds }
          // Compilers and caches warm up first.
          await running.measure({ ...cell, seconds: plan.seconds / 4 })
          const sample = await running.measure(cell)
          measured.push({ contestant: contestant.name, operation, connections, sample })
        }
      }
    }
  }
  return { measured: medians(measured), sync: median(syncs) }
}

async function measureAll(plan: Plan): Promise<Measurements> {
  const generator = startGenerator()
  try {
    return await onDisk(async (directory) => {
      const standing = await startAll(plan, generator, directory)
      try {
        return await compete(plan, standing)
      } finally {
        for (const { running } of standing) await running.stop()
      }
    })
  } finally {
    generator.stop()
  }
}

/** It measures no speed, and takes as long as all others together. */
const BY_NAME_ALONE = 'scale'

type Parts = Readonly<Record<string, () => Promise<Finding>>>

/** What the table cannot show. */
const partsOf = (quick: boolean, agents: number | undefined): Parts => ({
  startup: () => startup(quick ? 3 : 10),
  export: () => exports(exportPlan(quick)),
  isolation: () => (quick ? isolation(3, 1) : isolation(10, 3)),
  find: () => finding(findPlan(quick)),
  mcp: () => mcpFinding(mcpPlan(quick)),
  import: () => imports(importPlan(quick), quick ? 1 : 3),
  batch: () => batchFinding(batchPlan(quick)),
  growth: () => growth(growthPlan(quick)),
  [BY_NAME_ALONE]: () => scale(scalePlan(quick, agents)),
})

/** A part that fails takes nothing from what the others found. */
async function others({ quick, agents, alone }: Plan): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [name, find] of Object.entries(partsOf(quick, agents))) {
    if (!(alone.length > 0 ? alone.includes(name) : name !== BY_NAME_ALONE)) continue
    say(name)
    await find().then(
      (finding) => found.push(finding),
      (error: unknown) => {
        process.exitCode = 1
        say(`${name} failed: ${error}`)
      },
    )
  }
  return found
}

/** What is not understood ends the process with what would be. */
function planOrUsage(args: string[]): Plan {
  try {
    return planOf(args)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}\n`)
    process.exit(2)
  }
}

pinSelf()
const plan = planOrUsage(process.argv.slice(2))
const machine = await describeMachine()
const { measured, sync } = plan.table ? await measureAll(plan) : { measured: [], sync: 0 }
const table = plan.table ? [tables(measured)] : []
if (plan.whole) table.forEach(show)
const beside = sideBySide(measured, comparable)
const findings = plan.whole || plan.alone.length > 0 ? await others(plan) : []
const goals = [...tableGoals(measured, sync), ...findings.flatMap((finding) => finding.goals)]
publish({
  name: plan.alone.join('-') || (plan.quick ? 'quick' : 'full'),
  title: plan.alone.join(', ') || 'Ours beside the others',
  directory: plan.results,
  machine: [
    ...machine,
    `load average at the end ${loadavg()[0]?.toFixed(1)}`,
    ...(plan.table
      ? [
          `${plan.rounds} rounds of ${plan.seconds} s a cell, contestants in turns, medians; texts of 1 KB`,
        ]
      : []),
  ],
  parts: [
    ...(beside ? [beside] : []),
    ...table,
    ...findings.map(({ part }) => part),
    ...(goals[0] ? [goalsTable(goals)] : []),
  ],
})
process.exit()
