/** Requests that were forwarded and not answered yet. */
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/client'
import { LISTEN } from '../../../mcp/message.ts'

interface Running {
  readonly abort: AbortController
  readonly answered: PromiseWithResolvers<void>
  /** A subscription, which does not end by itself. */
  readonly listens: boolean
}

export function createRunning() {
  const running = new Map<RequestId, Running>()

  function end(id: RequestId): void {
    running.get(id)?.answered.resolve()
    running.delete(id)
  }

  /** Over HTTP a request is cancelled by closing its response. */
  function cancel(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return
    const { abort } = running.get(id) ?? {}
    end(id)
    abort?.abort()
  }

  return {
    has: (id: RequestId): boolean => running.has(id),
    /** Returns a signal that is aborted on cancellation. */
    begin({ id, method }: JSONRPCRequest): AbortSignal {
      const abort = new AbortController()
      running.set(id, { abort, answered: Promise.withResolvers(), listens: method === LISTEN })
      return abort.signal
    },
    end,
    cancel,
    /** Resolves when all are answered; subscriptions are dropped. */
    async finish(): Promise<void> {
      for (const [id, { listens }] of running) if (listens) cancel(id)
      await Promise.all(Array.from(running.values(), ({ answered }) => answered.promise))
    },
  }
}
