/** How slowly a request may be sent: it has a deadline, and a long body a pace to keep instead. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Patience, watchPace } from './pace.ts'

export interface SenderPatience extends Patience {
  /** Milliseconds in which a body must be there, unless it is taken at its pace. */
  readonly requestTimeout: number
  /** Milliseconds between two looks at which are late. */
  readonly connectionsCheckingInterval: number
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Each wait for a piece counts against the sender; what is done with a piece does not. */
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
    // Ends once the piece that is waited for comes, or the connection breaks.
    pieces.return?.().catch(() => {})
  }
}

/** `tooSlow`: told of a connection whose sender is late. */
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
    /** Most are there when they are answered; the rest is waited for. */
    answered(message: IncomingMessage): void {
      if (message.complete) since.delete(message)
    },
    /** Its body, piece by piece. Throws where it does not come, and breaks the connection. */
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
        // Who stops before its end lets the rest run past, within the time of any request.
        if (!message.complete) since.set(message, performance.now())
      }
    },
    close: () => clearInterval(sweeping),
  }
}

export type Senders = ReturnType<typeof watchSenders>
