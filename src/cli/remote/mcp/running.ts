/** The requests that were passed on, and are not answered yet. */
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/client'

interface Running {
  readonly abort: AbortController
  readonly answered: PromiseWithResolvers<void>
  /** It has no end of its own. */
  readonly listens: boolean
}

const LISTEN = 'subscriptions/listen'

export function createRunning() {
  const running = new Map<RequestId, Running>()

  function end(id: RequestId): void {
    running.get(id)?.answered.resolve()
    running.delete(id)
  }

  /** Over HTTP a request is cancelled by letting go of it. */
  function cancel(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return
    const { abort } = running.get(id) ?? {}
    end(id)
    abort?.abort()
  }

  return {
    has: (id: RequestId): boolean => running.has(id),
    /** Gives what tells that it was cancelled. */
    begin({ id, method }: JSONRPCRequest): AbortSignal {
      const abort = new AbortController()
      running.set(id, { abort, answered: Promise.withResolvers(), listens: method === LISTEN })
      return abort.signal
    },
    end,
    cancel,
    /** Resolves when all are answered; those that only listen are let go. */
    async finish(): Promise<void> {
      for (const [id, { listens }] of running) if (listens) cancel(id)
      await Promise.all(Array.from(running.values(), ({ answered }) => answered.promise))
    },
  }
}
