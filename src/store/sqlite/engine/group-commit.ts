/** Several writes, one commit: all of them durable together, none able to fail its neighbours. */
import type { DatabaseSync } from 'node:sqlite'
import { prepareTransact, prepareTuples, type StorageFault, storageFault } from './connection.ts'
import type { Writes } from './writes.ts'

export type Verb = keyof Writes['verbs']

/** A verb and its arguments, as they cross to the writer's thread. */
export type Job = readonly [verb: Verb, ...args: unknown[]]

export type Outcome =
  | { readonly value: unknown }
  /** Without `fault` the write itself is wrong; with it the storage failed. */
  | { readonly error: Error; readonly fault?: StorageFault | undefined }

const failure = (error: unknown): Outcome => ({
  error: error instanceof Error ? error : new Error(String(error)),
  fault: storageFault(error),
})

export interface Committed {
  /** One for each job, in their order. */
  readonly outcomes: readonly Outcome[]
  /** Rows that are other than before; with none there was nothing to make durable. */
  readonly changed: number
}

type Run = (job: Job) => Outcome

/** How many rows a transaction changed, apart from those that were changed back. */
function watchChanges(db: DatabaseSync) {
  const total = prepareTuples<[number]>(db, 'SELECT total_changes()')
  const now = (): number => total.get()?.[0] ?? 0
  let before = now()
  let undone = 0
  return {
    now,
    /** They count no more: the rows that were changed since. */
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

/** Undoes one write of a transaction that goes on. */
const apart =
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
  const runApart = apart(db, changes, run)

  const together = (jobs: readonly Job[], each: Run): Committed => {
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

  /** Savepoints cost every write a little, so they are left for the group that needs them. */
  const commit = (jobs: readonly Job[]): Committed => {
    try {
      return together(jobs, run)
    } catch (error) {
      if (storageFault(error)) throw error
      return together(jobs, runApart)
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
