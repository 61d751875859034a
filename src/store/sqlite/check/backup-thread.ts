/** Copies a consistent state of a database to a file, in a thread that can be stopped. */
import { truncateSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { prepare } from '../engine/connection.ts'
import { readFileOf } from './still.ts'

/** The thread's parameters. */
export interface Copying {
  readonly path: string
  /** An empty file. */
  readonly target: string
}

const { path, target } = workerData as Copying

readFileOf(path, (db) => {
  // Started again if the database was written in between.
  truncateSync(target)
  prepare(db, 'VACUUM INTO ?').run(target)
})
