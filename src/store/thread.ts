/** A thread of the store's own: started when it is needed or told to, and again after it ended. */
import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { StoreUnavailable } from './port/errors.ts'

interface Listener<Answer> {
  readonly answered: (answer: Answer) => void
  /** What was asked of it and is not answered is lost. `cause`: where it failed. */
  readonly ended: (cause: unknown) => void
}

/** Of a thread beside the module with this URL: TypeScript as it stands, JavaScript once built. */
const fileOf = (name: string, beside: string): URL => new URL(`./${name}${extname(beside)}`, beside)

/** Which file runs as a thread, and what it is given. */
export interface ThreadFile {
  readonly name: string
  /** `import.meta.url` of a module in the same directory. */
  readonly beside: string
  readonly workerData: unknown
}

/** One thread at a time. It ends when it is sent null, after it answered what came before. */
export function keepThread<Message, Answer>(
  { name, beside, workerData }: ThreadFile,
  { answered, ended }: Listener<Answer>,
) {
  let thread: Worker | undefined
  let closed = false

  function launch(): Worker {
    const worker = new Worker(fileOf(name, beside), { name, workerData })
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
    /** Throws StoreUnavailable once it is closed. */
    post(message: Message): void {
      if (closed) throw new StoreUnavailable('the store is closed')
      thread ??= launch()
      thread.postMessage(message)
    },
    /** Before the first message, which then does not wait for it. */
    start(): void {
      if (!closed) thread ??= launch()
    },
    /** Another in its place, with nothing kept. Only where nothing is asked that is not answered. */
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
