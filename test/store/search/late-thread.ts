/** A search thread that answers each message when the next one comes. */
import { parentPort } from 'node:worker_threads'
import type { SearchMessage, SearchReply } from '../../../src/store/search/answering.ts'

let before: SearchMessage | undefined

const reply = ({ id }: SearchMessage): SearchReply => ({
  ...{ id, answer: { outcome: 'hits', hits: [], next: undefined, looked: 0, missing: [] } },
})

parentPort?.on('message', (message: SearchMessage | null) => {
  if (!message) return parentPort?.close()
  if (before) parentPort?.postMessage(reply(before))
  before = message
  // Nobody waits for more than that it is forgotten.
  if (message.forget !== undefined) parentPort?.postMessage(reply(message))
})
