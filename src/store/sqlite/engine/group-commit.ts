/** Group commit: several writes share one transaction, and none can fail another. */
import type { DatabaseSync } from 'node:sqlite'
import { prepareTransact, prepareTuples, type StorageFault, storageFault } from './connection.ts'
import type { Writes } from './writes.ts'

export type Verb = keyof Writes['verbs']

/** A verb and its arguments, as sent to the writer thread. */
export type Job = readonly [verb: Verb, ...args: unknown[]]

/** Without `fault` the write failed; with it, the storage. */
export interface Failure {
  readonly error: Error
  readonly fault: StorageFault | undefined
}

export type Outcome = { readonly value: unknown } | Failure

const failure = (error: unknown): Failure => ({
  error: error instanceof Error ? error : new Error(String(error)),
  fault: storageFault(error),
})

export interface Committed {
  /** One per job, in order. */
  readonly outcomes: readonly Outcome[]
  /** Rows that changed; if none did, there was nothing to commit. */
  readonly changed: number
}

type Run = (job: Job) => Outcome

/** How many rows a transaction changed, not counting those that were rolled back. */
function watchChanges(db: DatabaseSync) {
  const total = prepareTuples<[number]>(db, 'SELECT total_changes()')
  const now = (): number => total.get()?.[0] ?? 0
  let before = now()
  let undone = 0
  return {
    now,
    /** Subtracts the rows changed since. */
    undo(since: number): void {
      undone += now() - since
    },
    sinceLast(): number {
      const after = now()
      const changed = after - before - undone
      before = after
      undone = 0
      return changed
    },
  }
}

type Changes = ReturnType<typeof watchChanges>

/** Rolls back one write of a transaction. */
const inSavepoint =
  (db: DatabaseSync, changes: Changes, run: Run): Run =>
  (job) => {
    const before = changes.now()
    db.exec('SAVEPOINT write')
    try {
      return run(job)
    } catch (error) {
      if (storageFault(error)) throw error
      db.exec('ROLLBACK TO write')
      changes.undo(before)
      return failure(error)
    } finally {
      if (db.isTransaction) db.exec('RELEASE write')
    }
  }

export function prepareGroupCommit(
  db: DatabaseSync,
  { verbs, finish, committed, undone }: Writes,
): (jobs: readonly Job[]) => Committed {
  const transact = prepareTransact(db)
  const changes = watchChanges(db)
  const run: Run = ([verb, ...args]) => {
    const write = verbs[verb] as (...args: readonly unknown[]) => unknown
    return { value: write(...args) }
  }
  const runInSavepoint = inSavepoint(db, changes, run)

  const commitAll = (jobs: readonly Job[], each: Run): Committed => {
    try {
      const done = transact(() => {
        const outcomes = jobs.map(each)
        finish()
        return { outcomes, changed: changes.sinceLast() }
      })
      committed()
      return done
    } catch (error) {
      undone(storageFault(error))
      changes.sinceLast()
      throw error
    }
  }

  /** Savepoints cost every write a little, so only a group that needs them uses them. */
  const commit = (jobs: readonly Job[]): Committed => {
    try {
      return commitAll(jobs, run)
    } catch (error) {
      if (storageFault(error)) throw error
      return commitAll(jobs, runInSavepoint)
    }
  }

  return (jobs) => {
    try {
      return commit(jobs)
    } catch (error) {
      return { outcomes: jobs.map(() => failure(error)), changed: 0 }
    }
  }
}
