/** The thread that owns the one writing connection. Writes that wait go into one commit. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { StoreOptions } from '../../port/store.ts'
import { prepareCheckpoint } from './checkpoint.ts'
import { mapped, openWriter } from './connection.ts'
import { type Job, prepareGroupCommit } from './group-commit.ts'
import { prepareWrites } from './writes.ts'

/** What the thread is started with. */
export interface Workplace {
  readonly path: string
  readonly options: StoreOptions
}

/** Null asks the thread to close its connection and end. */
export type Message = readonly Job[] | null

const port = parentPort
if (!port) throw new Error('this module runs as a thread')

const { path, options } = workerData as Workplace
const db = mapped(openWriter(path))
const commit = prepareGroupCommit(db, prepareWrites(db, options))
const checkpoint = prepareCheckpoint(db)

/** What came in while the last commit was on its way to the disk. */
const waiting = (first: Message): Message[] => {
  const messages = [first]
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    messages.push(next.message as Message)
  }
  return messages
}

port.on('message', (first: Message) => {
  const messages = waiting(first)
  const jobs = messages.flatMap((message) => message ?? [])
  if (jobs.length > 0) {
    port.postMessage(commit(jobs))
    checkpoint()
  }
  if (!messages.includes(null)) return
  db.close()
  port.close()
})
