/** Writes one moment of a database into a file, on a thread: it takes long, and must be stoppable. */
import { truncateSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { prepare } from '../engine/connection.ts'
import { readFileOf } from './still.ts'

/** What the thread is started with. */
export interface Copying {
  readonly path: string
  /** An empty file. */
  readonly target: string
}

const { path, target } = workerData as Copying

readFileOf(path, (db) => {
  // Begun twice where the database was written in between.
  truncateSync(target)
  prepare(db, 'VACUUM INTO ?').run(target)
})
