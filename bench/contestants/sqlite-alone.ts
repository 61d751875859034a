/**
 * What SQLite takes for the same. The statements of the store are written down while the store's own
 * verbs run on a copy of the database; then they run again, with the same values, in a process that
 * does nothing else: in commits of up to 64 writes, reads one by one.
 *
 *   node bench/contestants/sqlite-alone.ts <file> <operation> <connections> <seconds>
 *   node bench/contestants/sqlite-alone.ts <file> age
 */
import { randomUUID } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { boundsOf, loadConfig } from '../../src/config.ts'
import { mapped, openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { type Job, prepareGroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { prepareWrites } from '../../src/store/sqlite/engine/writes.ts'
import { prepareIdentify, rememberIdentities } from '../../src/store/sqlite/identities.ts'
import { prepareReadMemory } from '../../src/store/sqlite/memories/reads.ts'
import { homeEnv } from '../home.ts'
import type { Operation } from '../load/dialect.ts'
import { gather } from '../load/sample.ts'
import { fewTexts, groupFor } from './alone.ts'

/** Written down and run again, in each second that is asked for. */
const MOST_OPERATIONS = 50_000
const MOST_COMMITS = 2_000

const [path = '', task = 'read', connections = '64', seconds = '1'] = process.argv.slice(2)
const operation = task === 'age' ? 'update' : task
const group = operation === 'read' ? 1 : groupFor(Number(connections))
const most =
  operation === 'read' ? MOST_OPERATIONS : Math.min(MOST_OPERATIONS / group, MOST_COMMITS)
const groups = Math.ceil(most * Number(seconds))

interface Place {
  readonly agentId: string
  readonly tokenHash: string
  readonly key: string
  version: number
}

const placesIn = (db: DatabaseSync) =>
  db
    .prepare(
      `SELECT m.agent_id AS agentId, token_hash AS tokenHash, key, version
       FROM memories m JOIN credentials c ON c.agent_id = m.agent_id AND c.kind = 'agent'`,
    )
    .all() as unknown as Place[]

const identityOf = ({ agentId, tokenHash }: Place) =>
  ({ agentId, tokenHash, kind: 'agent', status: 'active' }) as const

/** The statements of one group, in their order; the text of SQL once for all. */
type Step = readonly [statement: number, verb: 'get' | 'all' | 'run', values: SQLInputValue[]]

interface Recorded {
  readonly statements: readonly string[]
  readonly steps: readonly (readonly Step[])[]
}

const VERBS = ['get', 'all', 'run'] as const

/** What is prepared from here on writes down how it is used. */
function recorded(db: DatabaseSync) {
  const statements: string[] = []
  let steps: Step[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = (sql: string): StatementSync => {
    const statement = prepare(sql)
    const at = statements.push(sql) - 1
    for (const verb of VERBS) {
      const run: (...values: SQLInputValue[]) => unknown = statement[verb].bind(statement)
      statement[verb] = ((...values: SQLInputValue[]) => {
        steps.push([at, verb, values])
        return run(...values)
      }) as never
    }
    return statement
  }
  return {
    statements,
    take(): readonly Step[] {
      const taken = steps
      steps = []
      return taken
    },
  }
}

/** What the home beside it is started with. */
const bounds = boundsOf(loadConfig(homeEnv(dirname(path))))
const { versions } = bounds.home

const textAt = fewTexts()

/** Other names than an earlier run created. */
const run = randomUUID()

/** Does one group of operations by the store's own verbs. */
function groupOf(db: DatabaseSync, places: readonly Place[]): () => void {
  let written = 0
  const random = (): Place => {
    const place = places[Math.floor(Math.random() * places.length)]
    if (!place) throw new Error('the database holds nothing')
    return place
  }
  const write = (place: Place, key: string, expectedVersion: number): Job => {
    const text = textAt(written++)
    const memory = { id: randomUUID(), key, text, metadata: '{}', expectedVersion }
    return ['writeMemory', identityOf(place), memory, Date.now()]
  }
  const update = (place: Place) => write(place, place.key, place.version++)
  const jobs: Readonly<Record<Exclude<Operation, 'read'>, () => Job>> = {
    create: () => write(random(), `${run}.${written}`, 0),
    update: () => update(random()),
    hot: () => update(places[0] ?? random()),
  }
  if (operation === 'read') {
    const readMemory = prepareReadMemory(
      db,
      prepareIdentify(db, rememberIdentities().remember).refuse,
    )
    return () => {
      const place = random()
      readMemory(identityOf(place), place.key)
    }
  }
  const commit = prepareGroupCommit(db, prepareWrites(db, bounds))
  const job = jobs[operation as keyof typeof jobs]
  return () => {
    const { outcomes } = commit(Array.from({ length: group }, job))
    const failed = outcomes.find((each) => !('value' in each) || !isSaved(each.value))
    if (failed) throw new Error(JSON.stringify(failed))
  }
}

const isSaved = (value: unknown): boolean =>
  (value as { readonly outcome: string }).outcome === 'saved'

function record(file: string): Recorded {
  const db = mapped(openWriter(file))
  db.exec('PRAGMA synchronous = OFF')
  const places = placesIn(db)
  const { statements, take } = recorded(db)
  const work = groupOf(db, places)
  const steps = Array.from({ length: groups }, () => {
    work()
    return take()
  })
  db.close()
  return { statements, steps }
}

function again(db: DatabaseSync, { statements, steps }: Recorded) {
  const used = new Set(steps.flatMap((each) => each.map(([at]) => at)))
  const prepared = statements.map((sql, at) => {
    if (!used.has(at)) return undefined
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  })
  const { add, finish } = gather()
  for (const each of steps) {
    const startedAt = performance.now()
    for (const [at, verb, values] of each) prepared[at]?.[verb](...values)
    const latency = performance.now() - startedAt
    for (let i = 0; i < group; i++) add(latency, 'saved')
  }
  return finish()
}

/** Updates until histories are full, as those of the home beside it are: each then gives up a version. */
function age(): void {
  const db = mapped(openWriter(path))
  db.exec('PRAGMA synchronous = OFF')
  const places = placesIn(db)
  const work = groupOf(db, places)
  for (let made = 0; made < places.length * versions * 3; made += group) work()
  db.close()
}

function measure(): void {
  const [copy, stage] = [`${path}.copy`, `${path}.stage`]
  copyFileSync(path, copy)
  copyFileSync(path, stage)
  const all = record(copy)
  const db = mapped(openWriter(stage))
  process.stdout.write(JSON.stringify(again(db, all)))
  db.close()
  for (const file of [copy, stage]) rmSync(file)
}

if (task === 'age') age()
else measure()
