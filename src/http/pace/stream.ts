/** Streams long responses in pieces, to clients that must keep a minimum throughput. */
import type { ServerResponse } from 'node:http'
import type { TextStream } from '../call.ts'
import { type Patience, watchPace, within } from './pace.ts'

type Done = (error?: Error | null) => void

/**
 * Resolves when the system has accepted the data. A socket's own timeout restarts with everything
 * the client sends, so it proves nothing about reading.
 */
const taken = (write: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => write((error) => (error ? reject(error) : resolve())))

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Rejects if a piece fails or the client is too slow; the connection must then be closed. */
async function sendPieces(
  outgoing: ServerResponse,
  pieces: Pieces,
  patience: Patience,
): Promise<void> {
  const keepsPace = watchPace(patience)
  const overdue = setTimeout(() => outgoing.destroy(), patience.answerTimeout)
  try {
    for await (const piece of pieces) {
      await keepsPace(piece.length, () => taken((done) => outgoing.write(piece, done)))
    }
    await keepsPace(0, () => taken((done) => outgoing.end(done)))
  } finally {
    clearTimeout(overdue)
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
  patience: Patience,
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
    await sendPieces(outgoing, pieces, patience)
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
  patience: Patience,
): Promise<void> | undefined {
  if (text.length > PIECE_BYTES) return sendPieces(outgoing, slices(text), patience)
  outgoing.end(text)
  if (outgoing.writableLength === 0) return undefined
  return within(patience.stallTimeout, () =>
    taken((done) => {
      outgoing.once('finish', done)
      outgoing.once('close', done)
    }),
  )
}
