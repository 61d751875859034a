/** The thread that owns the one writing connection. Writes that wait go into one commit. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { StoreOptions, Totals } from '../../port/store.ts'
import { type Cleaning, prepareUpkeep } from './checkpoint.ts'
import { mapped, openWriter } from './connection.ts'
import { type Committed, type Job, prepareGroupCommit } from './group-commit.ts'
import { prepareWrites } from './writes.ts'

/** What the thread is started with. */
export interface Workplace {
  readonly path: string
  /** The database's file, open for reading and writing. */
  readonly file: number
  readonly options: StoreOptions
}

/** Null asks the thread to close its connection and end; no jobs, for the totals alone. */
export type Message = readonly Job[] | 'clean' | null

export interface Answer extends Committed {
  /** As of these outcomes; undefined where the storage does not tell. */
  readonly totals: Totals | undefined
  readonly cleaning?: Cleaning
}

const port = parentPort
if (!port) throw new Error('this module runs as a thread')

const { path, file, options } = workerData as Workplace
const db = mapped(openWriter(path))
const writes = prepareWrites(db, options)
const commit = prepareGroupCommit(db, writes)
const upkeep = prepareUpkeep(db, path, file)

const NOTHING: Committed = { outcomes: [], changed: 0 }

/** What came in while the last commit was on its way to the disk. */
const waiting = (first: Message): Message[] => {
  const messages = [first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    messages.push(next.message as Message)
  }
  return messages
}

const say = (answer: Omit<Answer, 'totals'>): void =>
  port.postMessage({ ...answer, totals: writes.totals() } satisfies Answer)

port.on('message', (first: Message) => {
  const messages = waiting(first)
  const jobs = messages.flatMap((message) => (Array.isArray(message) ? message : []))
  const committed = jobs.length > 0 ? commit(jobs) : NOTHING
  say(committed)
  for (const message of messages) {
    if (message === 'clean') say({ ...NOTHING, cleaning: upkeep.clean() })
  }
  if (jobs.length > 0) upkeep.bound(committed.changed)
  if (!messages.includes(null)) return
  upkeep.close()
  db.close()
  port.close()
})
