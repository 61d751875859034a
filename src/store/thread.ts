/** A thread of the store: started on demand, and again after it ended. */
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../program-files.ts'
import { StoreUnavailable } from './port/errors.ts'

interface Listener<Answer> {
  readonly answered: (answer: Answer) => void
  /** Unanswered requests are lost. `cause`: if the thread failed. */
  readonly ended: (cause: unknown) => void
}

/** The module that runs in the thread, and its parameters. */
export interface ThreadFile {
  readonly name: string
  /** `import.meta.url` of a module in the same directory. */
  readonly beside: string
  readonly workerData: unknown
}

/** One thread at a time. Null ends it after all earlier requests are answered. */
export function keepThread<Message, Answer>(
  { name, beside, workerData }: ThreadFile,
  { answered, ended }: Listener<Answer>,
) {
  let thread: Worker | undefined
  let closed = false

  function launch(): Worker {
    const worker = startThread(name, beside, workerData)
    let cause: unknown
    worker.on('message', answered)
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (thread !== worker) return
      thread = undefined
      ended(cause)
    })
    return worker
  }

  return {
    isRunning: (): boolean => thread !== undefined,
    /** Throws StoreUnavailable once closed. */
    post(message: Message): void {
      if (closed) throw new StoreUnavailable('the store is closed')
      thread ??= launch()
      thread.postMessage(message)
    },
    /** Starts the thread before its first request. */
    start(): void {
      if (!closed) thread ??= launch()
    },
    /** Replaces the thread. Only call it without pending requests. */
    renew(): void {
      thread?.postMessage(null)
      thread = launch()
    },
    async close(): Promise<void> {
      closed = true
      if (!thread) return
      thread.postMessage(null)
      await once(thread, 'exit')
    },
  }
}
