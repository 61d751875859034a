/** Imports as the writer's thread takes them, on a database of the test's own. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll } from 'vitest'
import type { Identity } from '../../src/store/port/home.ts'
import type { ImportOrder, KeptVersion } from '../../src/store/port/transfer.ts'
import { openWriter, transact } from '../../src/store/sqlite/engine/connection.ts'
import { type Job, prepareGroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { prepareWrites } from '../../src/store/sqlite/engine/writes.ts'
import { migrate } from '../../src/store/sqlite/schema/migrations.ts'
import { importVerb } from '../../src/store/sqlite/transfer/stage.ts'
import { temporaryDirectory } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, noLimits } from './fixture.ts'

/** What is handed to the store at once. */
const BATCH_BYTES = 65_536

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

/** The writer's thread, in this one. `before`: called before each write. */
export function openWork(before: (verb: string) => void = () => {}, home = unbounded.home) {
  const writes = prepareWrites(db, { ...unbounded, home })
  const commit = prepareGroupCommit(db, writes)
  const run = (...job: Job): unknown => {
    before(job[0])
    const [outcome] = commit([job]).outcomes
    if (outcome && 'value' in outcome) return outcome.value
    throw outcome?.error
  }
  type Submit = Parameters<typeof importVerb>[0]['submit']
  const submit = async (...job: Job) => run(...job)
  const writer = { submit: submit as Submit }
  return { ...writer, verbs: writes.verbs, importMemories: importVerb(writer) }
}

export type Work = ReturnType<typeof openWork>

export function newHome({ verbs }: Work): Identity {
  const birth = newBirth()
  transact(db, () => verbs.bear(birth, noLimits, NOON))
  const { agentId, operatorTokenHash: tokenHash } = birth
  return { agentId, kind: 'operator', tokenHash, status: 'active' }
}

export const kept = (key: string, version: number, text: string | undefined): KeptVersion => ({
  ...{ key, version, id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e' },
  operation: text === undefined ? 'delete' : 'write',
  by: { as: 'agent', via: 'mcp' },
  ...{ createdAt: NOON - 9, updatedAt: NOON - 9 + version },
  content: text === undefined ? undefined : { text, metadata: '{}' },
})

async function* batches(versions: Iterable<KeptVersion>, mostBytes: number) {
  let batch: KeptVersion[] = []
  let size = 0
  for (const version of versions) {
    batch.push(version)
    size += version.content?.text.length ?? 0
    if (size < mostBytes) continue
    yield batch
    batch = []
    size = 0
  }
  yield batch
}

export const sourceOf = (versions: () => Iterable<KeptVersion>, mostBytes = BATCH_BYTES) => ({
  [Symbol.asyncIterator]: () => batches(versions(), mostBytes),
})

interface Row {
  readonly key: string
  readonly n: number | null
  readonly previous: number | null
}

/** What can be seen of a home. */
export function stateOf({ agentId }: Identity) {
  const rows = (sql: string) => db.prepare(sql).all(agentId) as unknown as Row[]
  const heads = rows(`SELECT key, version, created_at, updated_at, deleted, size, pinned, change, n
    FROM memories WHERE agent_id = ? ORDER BY key`)
  const version =
    db.prepare(`SELECT previous, version, operation, author, updated_at AS at, created_at, bytes,
      size, metadata, text FROM log WHERE n = ? AND operation IS NOT NULL AND agent_id = ?`)
  const chain = (n: number | null): object[] => {
    const row = n === null ? undefined : (version.get(n, agentId) as Row | undefined)
    return row ? [{ ...row, previous: null }, ...chain(row.previous)] : []
  }
  return {
    heads: heads.map(({ n, ...head }) => ({ ...head, chain: chain(n) })),
    home: rows(`SELECT memories, bytes, history, deleted, floor, last_event FROM homes
      WHERE agent_id = ?`),
    events: rows(`SELECT id, event, key, renamed_from, version FROM log
      WHERE agent_id = ? AND event IS NOT NULL ORDER BY id`),
  }
}
