/**
 * How long do an import and a rollback of many memories take on both engines, and how long do the
 * writes of another home wait meanwhile? By the store's own verbs, called in this process.
 *
 *   node bench/import.ts [--quick]
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openStore } from '../src/store/open.ts'
import type { Identity } from '../src/store/port/identity.ts'
import type { Store } from '../src/store/port/store.ts'
import type { KeptVersion } from '../src/store/port/transfer.ts'
import { createPostgres } from '../test/postgres/server.ts'
import { median } from './load/sample.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf } from './process.ts'
import { type Finding, type Goal, markdownTable, publishFinding } from './result.ts'
import { birthOf, memberOf, noLimits, options } from './scale.ts'

/** Memories, or versions where a memory has several. */
export const importPlan = (quick: boolean): number => (quick ? 500 : 10_000)

const TEXT = 'x'.repeat(4_000)
const VERSIONS = 10
const AT_ONCE = 16
/** What another's write may wait beside an import. */
const MOST_MS = 35

const versionOf = (n: number, id: string, version: number, text: string): KeptVersion => ({
  ...{ key: `k${n}`, id, version, operation: 'write', by: undefined },
  ...{ createdAt: 1, updatedAt: version, content: { text, metadata: '{}' } },
})

/** As a file is read. */
function sourceOf(memories: number, versions: number, text: string) {
  async function* read() {
    let some: KeptVersion[] = []
    for (let n = 0; n < memories; n++) {
      const id = randomUUID()
      for (let version = 1; version <= versions; version++) {
        some.push(versionOf(n, id, version, text))
      }
      if (some.length < AT_ONCE) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }
  return { [Symbol.asyncIterator]: read }
}

async function homeIn(store: Store, n: number): Promise<Identity> {
  const birth = birthOf(memberOf(n))
  await store.bear(birth, noLimits, Date.now())
  const operator = await store.identify(birth.operatorTokenHash)
  if (!operator) throw new Error('its operator is unknown')
  return operator
}

/** The longest that a write of this home waits, one after the other, until it is stopped. */
function writeOn(store: Store, home: Identity, from: number) {
  let version = from
  let longest = 0
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      const since = performance.now()
      const write = { id: randomUUID(), key: 'plan', text: 'y', metadata: '{}' }
      const answer = await store.writeMemory(
        home,
        { ...write, expectedVersion: version++ },
        Date.now(),
      )
      if (answer.outcome !== 'saved') throw new Error(answer.outcome)
      longest = Math.max(longest, performance.now() - since)
    }
  })()
  return async () => {
    isOver = true
    await done
    return { longest, version }
  }
}

interface Measured {
  readonly ms: number
  readonly waitMs: number
}

async function measureOn(url: string, many: number, rounds: number) {
  const store = await openStore(url, Date.now(), {
    ...options,
    home: { ...options.home, versions: 50 },
  })
  const found = new Map<string, Measured[]>()
  const other = await homeIn(store, 0)
  let version = 0
  async function timed(name: string, work: () => Promise<{ readonly outcome: string }>) {
    const stop = writeOn(store, other, version)
    const since = performance.now()
    const { outcome } = await work()
    const ms = performance.now() - since
    if (!['imported', 'rolled_back'].includes(outcome)) throw new Error(`${name}: ${outcome}`)
    const stopped = await stop()
    version = stopped.version
    const before = found.get(name) ?? []
    found.set(name, [...before, { ms, waitMs: stopped.longest }])
  }
  const order = { onConflict: 'replace', dryRun: false } as const
  const bring = (home: Identity, memories: number, versions: number, text: string) => () =>
    store.importMemories(home, sourceOf(memories, versions, text), order, Date.now())
  for (let round = 1; round <= rounds; round++) {
    const [one, two] = [await homeIn(store, 2 * round), await homeIn(store, 2 * round + 1)]
    await timed('import of new memories', bring(one, many, 1, TEXT))
    const log = await store.readHead(one)
    if (log.outcome !== 'head') throw new Error(log.outcome)
    await timed('import that replaces them', bring(one, many, 1, `${TEXT}z`))
    const rollback = { to: log.head.id, prefix: '', dryRun: false }
    await timed('rollback of all of them', () => store.rollBack(one, rollback, Date.now()))
    await timed(`import of histories of ${VERSIONS}`, bring(two, many / VERSIONS, VERSIONS, TEXT))
  }
  await store.close()
  return found
}

async function onPostgres(many: number, rounds: number) {
  const server = await createPostgres()
  try {
    await server.start()
    return await measureOn(server.url('postgres'), many, rounds)
  } finally {
    await server.remove()
  }
}

export async function imports(many: number, rounds = 3): Promise<Finding> {
  const sqlite = await onDisk((directory) =>
    measureOn(`sqlite:${join(directory, 'home.db')}`, many, rounds),
  )
  const postgres = await onPostgres(many, rounds)
  const figures = (found: readonly Measured[] = []) => [
    (median(found.map(({ ms }) => ms)) / 1_000).toFixed(2),
    median(found.map(({ waitMs }) => waitMs)).toFixed(0),
  ]
  const rows = [...sqlite.keys()].map((name) => [
    ...[name, ...figures(sqlite.get(name)), ...figures(postgres.get(name))],
  ])
  const longest = Math.max(
    ...[...sqlite.values()].map((each) => median(each.map(({ waitMs }) => waitMs))),
  )
  const goal: Goal = {
    goal: `beside an import or a rollback on SQLite, a write of another home waits ${MOST_MS} ms at most`,
    measured: `${longest.toFixed(0)} ms`,
    met: longest <= MOST_MS,
  }
  const head = [`${many} versions of ${TEXT.length} bytes`, 'SQLite, s', 'others wait, ms']
  const table = markdownTable([...head, 'PostgreSQL, s', 'others wait, ms'], rows)
  return { part: `### import\n\n${table}`, goals: [goal] }
}

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await imports(importPlan(process.argv.includes('--quick')))
  publishFinding('import', 'Imports and rollbacks, and who waits', machine, found)
  process.exit(0)
}
