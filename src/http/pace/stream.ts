/** Answers that are longer than a moment: pulled piece by piece, by a reader who must keep a pace. */
import type { ServerResponse } from 'node:http'
import type { TextStream } from '../call.ts'
import { type Patience, watchPace, within } from './pace.ts'

type Done = (error?: Error | null) => void

/**
 * Resolves once the system took what was written. A socket's own timeout begins anew with all that
 * the client sends, so it proves no reader.
 */
const taken = (write: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => write((error) => (error ? reject(error) : resolve())))

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Rejects when a piece fails or its reader is too slow, for the connection to be broken. */
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
 * Sends the pieces one at a time, and lets go of their source however it ends. Rejects when a piece
 * fails, for the connection to be broken: what was cut off never ends as if it were whole. So it
 * does when the reader is too slow: who is gone must hold nothing.
 */
export async function sendText(
  outgoing: ServerResponse,
  { pieces, close, ended }: TextStream,
  patience: Patience,
): Promise<void> {
  // Nobody is told of a reader that left before.
  if (outgoing.destroyed || ended?.aborted) {
    outgoing.destroy()
    return close()
  }
  const breakOff = () => outgoing.destroy()
  ended?.addEventListener('abort', breakOff)
  // A source that waits for its next piece is let go at once, not when it has one.
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    await sendPieces(outgoing, pieces, patience)
  } finally {
    ended?.removeEventListener('abort', breakOff)
    close()
  }
}

/** What one write may hold; more is written as it is taken. */
const PIECE_BYTES = 65_536

function* slices(text: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** A whole text. Most are taken at once, and cost no promise; else as `sendText`. */
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
