/**
 * How slowly a request may be sent: within a deadline, or with a minimum throughput for long
 * bodies.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Patience, watchPace } from './pace.ts'

export interface SenderPatience extends Patience {
  /** Milliseconds for a body without a minimum throughput. */
  readonly requestTimeout: number
  /** Milliseconds between two checks for late requests. */
  readonly connectionsCheckingInterval: number
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Only waiting for a piece counts, not processing it. */
async function* atPace(body: IncomingMessage, patience: Patience): AsyncGenerator<Uint8Array> {
  const keepsPace = watchPace(patience)
  const pieces: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false })
  let size = 0
  try {
    for (;;) {
      const { done, value } = await keepsPace(size, () => pieces.next())
      if (done) return
      yield value
      size = value.length
    }
  } finally {
    // Ends when the piece arrives or the connection breaks.
    pieces.return?.().catch(() => {})
  }
}

/** `tooSlow`: called with the connection of a late client. */
export function watchSenders(patience: SenderPatience, tooSlow: (socket: Socket) => void) {
  const since = new Map<IncomingMessage, number>()

  function sweep(): void {
    const latest = performance.now() - patience.requestTimeout
    for (const [message, at] of since) {
      const isLate = at <= latest
      if (message.complete || message.destroyed || isLate) since.delete(message)
      if (isLate && !message.complete && !message.destroyed) tooSlow(message.socket)
    }
  }
  const sweeping = setInterval(sweep, patience.connectionsCheckingInterval).unref()

  return {
    expect(message: IncomingMessage): void {
      if (hasBody(message)) since.set(message, performance.now())
    },
    /** Most bodies have arrived by the time of the response; the rest is waited for. */
    answered(message: IncomingMessage): void {
      if (message.complete) since.delete(message)
    },
    /** Its body in pieces. Throws and closes the connection if it does not arrive. */
    async *bodyOf(message: IncomingMessage): AsyncGenerator<Uint8Array> {
      since.delete(message)
      const overdue = setTimeout(() => tooSlow(message.socket), patience.answerTimeout)
      try {
        yield* atPace(message, patience)
      } catch (error) {
        if (!message.destroyed) tooSlow(message.socket)
        throw error
      } finally {
        clearTimeout(overdue)
        // If the caller stops early, the rest is discarded within the normal deadline.
        if (!message.complete) since.set(message, performance.now())
      }
    },
    close: () => clearInterval(sweeping),
  }
}

export type Senders = ReturnType<typeof watchSenders>
