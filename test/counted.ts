/**
 * Work that is counted, not timed: the same on every machine, however busy it is. A module runs in
 * a thread of its own, where V8 counts how often each block of its source is entered.
 */
import { Worker } from 'node:worker_threads'

type Args<F> = F extends (...args: infer A) => unknown ? A : never

type Answer<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never

export interface LongestTurn {
  /** The most of one turn. */
  readonly steps: number
  /** Of all of them. */
  readonly whole: number
  /** Of a turn of its own: to be shown (test/effort.ts), for it is the machine's as well. */
  readonly ms: number
}

export interface Counted<M> {
  /** What a function of the module answers there. */
  readonly ask: <N extends keyof M>(name: N, ...args: Args<M[N]>) => Promise<Answer<M[N]>>
  /** The blocks of source that are entered until it has answered. */
  readonly steps: <N extends keyof M>(name: N, ...args: Args<M[N]>) => Promise<number>
  /** Of the turns of the thread's event loop, while the work asks something of it. */
  readonly longestTurn: (work: () => Promise<void>) => Promise<LongestTurn>
  /** Milliseconds of the processor that the thread takes for it, to be held against each other. */
  readonly processorMs: (work: () => Promise<void>) => Promise<number>
  readonly close: () => Promise<void>
}

export type Asked =
  | { readonly what: 'ask' | 'steps'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly what: 'longestTurn' | 'processorMs'; readonly begins: boolean }

export interface Reply {
  readonly error?: unknown
  readonly answer?: unknown
}

/** `url`: the module's, as `import.meta.resolve` has it. What is sent and answered is cloned. */
export function openCounted<M>(url: string): Counted<M> {
  const worker = new Worker(new URL('./counted-thread.ts', import.meta.url), {
    workerData: url,
    // What comes out of a cache was compiled without counters.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  })

  /** Rejected once the thread has ended by itself, as it does where the module is not there. */
  const ended = new Promise<never>((_, reject) => {
    worker.once('error', reject).once('exit', () => reject(new Error(`${url} has ended`)))
  })
  ended.catch(() => {})

  function send(asked: Asked): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const answered = (reply: Reply) =>
      'error' in reply ? reject(reply.error) : resolve(reply.answer)
    worker.once('message', answered).postMessage(asked)
    return Promise.race([promise, ended])
  }

  const watched =
    <T>(what: 'longestTurn' | 'processorMs') =>
    async (work: () => Promise<void>): Promise<T> => {
      await send({ what, begins: true })
      const [done] = await Promise.allSettled([work()])
      const found = await send({ what, begins: false })
      if (done.status === 'rejected') throw done.reason
      return found as T
    }

  return {
    ask: async (name, ...args) =>
      (await send({ what: 'ask', name: String(name), args })) as Answer<M[typeof name]>,
    steps: async (name, ...args) => Number(await send({ what: 'steps', name: String(name), args })),
    longestTurn: watched('longestTurn'),
    processorMs: watched('processorMs'),
    async close() {
      await worker.terminate()
    },
  }
}
