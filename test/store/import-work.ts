/** Imports on a database of the test's own, whose writes the test sees one by one. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll } from 'vitest'
import { importVerb } from '../../src/store/import.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { HomeBounds } from '../../src/store/port/store.ts'
import type { ImportOrder, KeptVersion } from '../../src/store/port/transfer.ts'
import { rollBackVerb } from '../../src/store/rollback.ts'
import { settling } from '../../src/store/settle.ts'
import { openWriter, transact } from '../../src/store/sqlite/engine/connection.ts'
import { type Job, prepareGroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { readVerbs } from '../../src/store/sqlite/engine/run.ts'
import type { Writer } from '../../src/store/sqlite/engine/writer.ts'
import { prepareWrites } from '../../src/store/sqlite/engine/writes.ts'
import { prepareIdentify } from '../../src/store/sqlite/identities.ts'
import { prepareEvents } from '../../src/store/sqlite/memories/event-reads.ts'
import { prepareReadHeads } from '../../src/store/sqlite/memories/home-log.ts'
import { prepareUnfinished } from '../../src/store/sqlite/memories/unfinished.ts'
import { logStatements } from '../../src/store/sqlite/memories/versions.ts'
import { migrate } from '../../src/store/sqlite/schema/migrations.ts'
import { batchesOf } from '../../src/store/sqlite/store.ts'
import { allReads } from '../../src/store/verbs/verbs.ts'
import type { Timers } from '../../src/timers.ts'
import { temporaryDirectory } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, noLimits } from './fixture.ts'

/** What is handed to the store at once. */
const PAGE_BYTES = 65_536

export const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

export let db: DatabaseSync

/** Called once in each file of tests: a worker's files share this module. */
export function openDatabase(): void {
  const directory = temporaryDirectory()
  beforeAll(() => {
    db = openWriter(join(directory, 'home.db'))
    migrate(db, directory)
  })
  afterAll(() => {
    db.close()
    rmSync(directory, { recursive: true })
  })
}

/** Of one write, with what it left to be moved into the database. */
interface Written {
  readonly rows: number
  /** Of the database, 4 KiB each. */
  readonly pages: number
}

/** `look`: called between two writes. The most that one of them wrote, once they are over. */
export function watchWrites() {
  const changed = () => Number(db.prepare('SELECT total_changes() AS n').get()?.n)
  /** Moved as the thread moves them between two commits, so that the next begins a new log. */
  const logged = () => Number(db.prepare('PRAGMA wal_checkpoint').get()?.log)
  let before = changed()
  let most: Written = { rows: 0, pages: 0 }
  logged()
  return {
    look() {
      const now = changed()
      most = { rows: Math.max(most.rows, now - before), pages: Math.max(most.pages, logged()) }
      before = now
    },
    most: () => most,
  }
}

type Times = Pick<Timers, 'every' | 'stopwatch'>

const NEVER: Times = { every: () => () => {}, stopwatch: () => 0 }

/** Imports and rollbacks of a database, by whoever takes its writes. */
function batchesOn(
  db: DatabaseSync,
  submit: Writer['submit'],
  bounds: HomeBounds,
  { every, stopwatch }: Times,
) {
  const read = async <T>(ask: () => T): Promise<T> => ask()
  const { refuse } = prepareIdentify(db)
  const eventsOf = prepareEvents(db, refuse)
  const store = batchesOf({
    ...{ clock: () => NOON, read, writer: { submit } },
    reads: readVerbs(db, allReads(logStatements, 0), read),
    readHeads: prepareReadHeads(db, refuse),
    unfinished: prepareUnfinished(db),
  })
  const settle = settling(store, { ...unbounded.timers, every })
  const eventsAfter = async (...after: Parameters<typeof eventsOf>) => eventsOf(...after)
  const parts = { store, bounds, settle, eventsAfter }
  return {
    importMemories: importVerb(parts, stopwatch),
    rollBack: rollBackVerb(parts, stopwatch),
  }
}

export const importerOn = (db: DatabaseSync, submit: Writer['submit'], bounds: HomeBounds) =>
  batchesOn(db, submit, bounds, NEVER).importMemories

/** The store, with its writer in this thread. `before`: called before each write. */
export function openWork(
  before: (verb: string) => void = () => {},
  home = unbounded.home,
  times = NEVER,
) {
  const writes = prepareWrites(db, { ...unbounded, home })
  const commit = prepareGroupCommit(db, writes)
  const run = (...job: Job): unknown => {
    before(job[0])
    const [outcome] = commit([job]).outcomes
    if (outcome && 'value' in outcome) return outcome.value
    throw outcome?.error
  }
  const submit = (async (...job: Job) => run(...job)) as Writer['submit']
  return { submit, verbs: writes.verbs, ...batchesOn(db, submit, home, times) }
}

export type Work = ReturnType<typeof openWork>

export function newHome({ verbs }: Pick<Work, 'verbs'>): Identity {
  const birth = newBirth()
  transact(db, () => verbs.bear(birth, noLimits, NOON))
  const { agentId, operatorTokenHash: tokenHash } = birth
  return { agentId, kind: 'operator', tokenHash, status: 'active' }
}

async function* pages(versions: Iterable<KeptVersion>, mostBytes: number) {
  let page: KeptVersion[] = []
  let size = 0
  for (const version of versions) {
    page.push(version)
    size += version.content?.text.length ?? 0
    if (size < mostBytes) continue
    yield page
    page = []
    size = 0
  }
  yield page
}

export const sourceOf = (versions: () => Iterable<KeptVersion>, mostBytes = PAGE_BYTES) => ({
  [Symbol.asyncIterator]: () => pages(versions(), mostBytes),
})
