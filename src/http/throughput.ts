/**
 * How slowly a client may send a request and read a response: within a deadline, or, where there is
 * much of it, with a minimum throughput.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Timers } from '../timers.ts'
import type { TextStream } from './call.ts'

/** The limits of a stream in either direction. */
export interface Throughput {
  /** Milliseconds in which a piece must pass. */
  readonly stallTimeout: number
  /** Bytes or characters per second, averaged over all waiting. */
  readonly minThroughput: number
  /** Milliseconds of waiting before the throughput is measured. */
  readonly throughputGrace: number
  /** Milliseconds for the whole stream. */
  readonly answerTimeout: number
  readonly timers: Timers
}

/** Rejects if the promise is not settled within `ms`. */
function within<T>({ after }: Timers, ms: number, wait: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = after(ms, () => reject(new Error('the other end is too slow')))
  return Promise.race([wait(), promise]).finally(cancel)
}

/** Only time spent waiting for the client counts. `size`: of the last piece. */
function measuring({ stallTimeout, minThroughput, throughputGrace, timers }: Throughput) {
  let waitedMs = 0
  let passed = 0
  return async <T>(size: number, wait: () => Promise<T>): Promise<T> => {
    passed += size
    const leftMs = throughputGrace + (passed * 1_000) / minThroughput - waitedMs
    const startedAt = timers.stopwatch()
    const came = await within(timers, Math.max(0, Math.min(stallTimeout, leftMs)), wait)
    waitedMs += timers.stopwatch() - startedAt
    return came
  }
}

interface SenderLimits extends Throughput {
  /** Milliseconds for a body without a minimum throughput. */
  readonly requestTimeout: number
  /** Milliseconds between two checks for late requests. */
  readonly connectionsCheckingInterval: number
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Only waiting for a piece counts, not processing it. */
async function* received(body: IncomingMessage, limits: Throughput): AsyncGenerator<Uint8Array> {
  const inTime = measuring(limits)
  const pieces: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false })
  let size = 0
  try {
    for (;;) {
      const { done, value } = await inTime(size, () => pieces.next())
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
export function watchSenders(limits: SenderLimits, tooSlow: (socket: Socket) => void) {
  const since = new Map<IncomingMessage, number>()
  const { stopwatch, after, every } = limits.timers

  function sweep(): void {
    const latest = stopwatch() - limits.requestTimeout
    for (const [message, at] of since) {
      const isLate = at <= latest
      if (message.complete || message.destroyed || isLate) since.delete(message)
      if (isLate && !message.complete && !message.destroyed) tooSlow(message.socket)
    }
  }
  const stopSweeping = every(limits.connectionsCheckingInterval, sweep)

  return {
    expect(message: IncomingMessage): void {
      if (hasBody(message)) since.set(message, stopwatch())
    },
    /** Most bodies have arrived by the time of the response; the rest is waited for. */
    answered(message: IncomingMessage): void {
      if (message.complete) since.delete(message)
    },
    /** Its body in pieces. Throws and closes the connection if it does not arrive. */
    async *bodyOf(message: IncomingMessage): AsyncGenerator<Uint8Array> {
      since.delete(message)
      const cancel = after(limits.answerTimeout, () => tooSlow(message.socket))
      try {
        yield* received(message, limits)
      } catch (error) {
        if (!message.destroyed) tooSlow(message.socket)
        throw error
      } finally {
        cancel()
        // If the caller stops early, the rest is discarded within the normal deadline.
        if (!message.complete) since.set(message, stopwatch())
      }
    },
    close: stopSweeping,
  }
}

export type Senders = ReturnType<typeof watchSenders>

type Done = (error?: Error | null) => void

/**
 * Resolves when the system has accepted the data. A socket's own timeout restarts with everything
 * the client sends, so it proves nothing about reading.
 */
const taken = (write: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => write((error) => (error ? reject(error) : resolve())))

type Pieces = Iterable<Uint8Array> | AsyncIterable<string>

/** Rejects if a piece fails or the client is too slow; the connection must then be closed. */
async function sendPieces(
  outgoing: ServerResponse,
  pieces: Pieces,
  limits: Throughput,
): Promise<void> {
  const inTime = measuring(limits)
  const cancel = limits.timers.after(limits.answerTimeout, () => outgoing.destroy())
  try {
    for await (const piece of pieces) {
      await inTime(piece.length, () => taken((done) => outgoing.write(piece, done)))
    }
    await inTime(0, () => taken((done) => outgoing.end(done)))
  } finally {
    cancel()
  }
}

/**
 * Sends the pieces one at a time, and releases their source in any case. Rejects if a piece fails
 * or the client is too slow: the connection must then be closed, so that a truncated response does
 * not look complete.
 */
export async function sendText(
  outgoing: ServerResponse,
  { pieces, close, ended }: TextStream,
  limits: Throughput,
): Promise<void> {
  // There is no event for a client that left before.
  if (outgoing.destroyed || ended?.aborted) {
    outgoing.destroy()
    return close()
  }
  const breakOff = () => outgoing.destroy()
  ended?.addEventListener('abort', breakOff)
  // A source that waits for its next piece is released at once.
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    await sendPieces(outgoing, pieces, limits)
  } finally {
    ended?.removeEventListener('abort', breakOff)
    close()
  }
}

/** The largest write; the rest follows as the client reads. */
const PIECE_BYTES = 65_536

function* slices(text: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/**
 * Sends a whole text. Usually it is accepted at once, without a promise; otherwise like `sendText`.
 */
export function sendWhole(
  outgoing: ServerResponse,
  text: string | Uint8Array,
  limits: Throughput,
): Promise<void> | undefined {
  if (text.length > PIECE_BYTES) return sendPieces(outgoing, slices(text), limits)
  outgoing.end(text)
  if (outgoing.writableLength === 0) return undefined
  return within(limits.timers, limits.stallTimeout, () =>
    taken((done) => {
      outgoing.once('finish', done)
      outgoing.once('close', done)
    }),
  )
}
