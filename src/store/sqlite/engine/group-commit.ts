/** Several writes, one commit: all of them durable together, none able to fail its neighbours. */
import type { DatabaseSync } from 'node:sqlite'
import { type StorageFault, storageFault, transact } from './connection.ts'
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

type Run = (job: Job) => Outcome

/** Undoes one write of a transaction that goes on. */
const apart =
  (db: DatabaseSync, run: Run): Run =>
  (job) => {
    db.exec('SAVEPOINT write')
    try {
      return run(job)
    } catch (error) {
      if (storageFault(error)) throw error
      db.exec('ROLLBACK TO write')
      return failure(error)
    } finally {
      if (db.isTransaction) db.exec('RELEASE write')
    }
  }

export function prepareGroupCommit(db: DatabaseSync, { verbs, finish, committed, undone }: Writes) {
  const run: Run = ([verb, ...args]) => {
    const write = verbs[verb] as (...args: readonly unknown[]) => unknown
    return { value: write(...args) }
  }
  const runApart = apart(db, run)

  const together = (jobs: readonly Job[], each: Run): Outcome[] => {
    try {
      const done = transact(db, () => {
        const outcomes = jobs.map(each)
        finish()
        return outcomes
      })
      committed()
      return done
    } catch (error) {
      undone(storageFault(error))
      throw error
    }
  }

  /** Savepoints cost every write a little, so they are left for the group that needs them. */
  const commit = (jobs: readonly Job[]): Outcome[] => {
    try {
      return together(jobs, run)
    } catch (error) {
      if (storageFault(error)) throw error
      return together(jobs, runApart)
    }
  }

  return (jobs: readonly Job[]): Outcome[] => {
    try {
      return commit(jobs)
    } catch (error) {
      return jobs.map(() => failure(error))
    }
  }
}
