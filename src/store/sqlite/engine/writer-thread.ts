/** The thread with the only writing connection. Waiting writes share a commit. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { processTimers } from '../../../timers.ts'
import type { StoreBounds, Totals } from '../../port/store.ts'
import { type Cleaning, prepareUpkeep } from './checkpoint.ts'
import { mapped, openWriter } from './connection.ts'
import { type Committed, type Job, prepareGroupCommit } from './group-commit.ts'
import { prepareWrites } from './writes.ts'

/** The thread's parameters. */
export interface WriterData {
  readonly path: string
  /** The database's descriptor, open for reading and writing. */
  readonly file: number
  readonly options: StoreBounds
}

/** Null closes the connection and ends the thread. */
export type Message = readonly Job[] | 'clean' | 'count' | null

export interface Answer extends Committed {
  /** After these outcomes. Undefined until counted, or if the storage does not answer. */
  readonly totals: Totals | undefined
  /** In answer to `count`. */
  readonly counted?: true
  readonly cleaning?: Cleaning
}

const port = parentPort
if (!port) throw new Error('this module runs as a thread')

const { path, file, options } = workerData as WriterData
const db = mapped(openWriter(path))
const writes = prepareWrites(db, options)
const commit = prepareGroupCommit(db, writes)
const upkeep = prepareUpkeep(db, path, file, processTimers)

const NOTHING: Committed = { outcomes: [], changed: 0 }

/** Jobs that arrived while the last commit was being written. */
const waiting = (first: Message): Message[] => {
  const messages = [first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    messages.push(next.message as Message)
  }
  return messages
}

const post = (answer: Omit<Answer, 'totals'>, totals = writes.totals.known()): void =>
  port.postMessage({ ...answer, totals } satisfies Answer)

port.on('message', (first: Message) => {
  const messages = waiting(first)
  const jobs = messages.flatMap((message) => (Array.isArray(message) ? message : []))
  const committed = jobs.length > 0 ? commit(jobs) : undefined
  if (committed) post(committed)
  for (const message of messages) {
    if (message === 'clean') post({ ...NOTHING, cleaning: upkeep.clean() })
    if (message === 'count') post({ ...NOTHING, counted: true }, writes.totals.count())
  }
  if (committed) upkeep.bound(committed.changed)
  if (!messages.includes(null)) return
  upkeep.close()
  db.close()
  port.close()
})
