/** Answers that are longer than a moment: pulled piece by piece, by a reader who must keep a pace. */
import type { ServerResponse } from 'node:http'
import type { TextStream } from './call.ts'

/** How slow a reader may be. */
export interface ReaderPatience {
  /** Milliseconds in which a piece must be taken. */
  readonly stallTimeout: number
  /** Characters a second, over all the time that was spent waiting for the reader. */
  readonly leastPace: number
  /** Milliseconds of waiting before the pace counts. */
  readonly paceGrace: number
  /** Milliseconds for the whole answer. */
  readonly answerTimeout: number
}

type Done = (error?: Error | null) => void

/**
 * Resolves once the system took what was written, and rejects when it did not within `ms`. A
 * socket's own timeout begins anew with all that the client sends, so it proves no reader.
 */
function within(ms: number, write: (done: Done) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const tooLong = setTimeout(() => reject(new Error('the reader is too slow')), ms)
  write((error) => (error ? reject(error) : resolve()))
  return promise.finally(() => clearTimeout(tooLong))
}

/** Only what is waited for the reader counts: a source may take its time. */
function watchReader({ stallTimeout, leastPace, paceGrace }: ReaderPatience) {
  let waitedMs = 0
  let chars = 0
  return async (piece: string | Uint8Array, write: (done: Done) => void): Promise<void> => {
    chars += piece.length
    const leftMs = paceGrace + (chars * 1_000) / leastPace - waitedMs
    const startedAt = performance.now()
    await within(Math.max(0, Math.min(stallTimeout, leftMs)), write)
    waitedMs += performance.now() - startedAt
  }
}

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Rejects when a piece fails or its reader is too slow, for the connection to be broken. */
async function sendPieces(
  outgoing: ServerResponse,
  pieces: Pieces,
  patience: ReaderPatience,
): Promise<void> {
  const taken = watchReader(patience)
  const overdue = setTimeout(() => outgoing.destroy(), patience.answerTimeout)
  try {
    for await (const piece of pieces) await taken(piece, (done) => outgoing.write(piece, done))
    await taken('', (done) => outgoing.end(done))
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
  { pieces, close }: TextStream,
  patience: ReaderPatience,
): Promise<void> {
  // Nobody is told of a reader that left before.
  if (outgoing.destroyed) return close()
  // A source that waits for its next piece is let go at once, not when it has one.
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    await sendPieces(outgoing, pieces, patience)
  } finally {
    close()
  }
}

/** What one write may hold; more is written as it is taken. */
const PIECE_BYTES = 65_536

function* slices(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/** A whole text. Most are taken at once, and cost no promise; else as `sendText`. */
export function sendWhole(
  outgoing: ServerResponse,
  text: string,
  patience: ReaderPatience,
): Promise<void> | undefined {
  if (text.length > PIECE_BYTES) return sendPieces(outgoing, slices(text), patience)
  outgoing.end(text)
  if (outgoing.writableLength === 0) return undefined
  return within(patience.stallTimeout, (done) => {
    outgoing.once('finish', done)
    outgoing.once('close', done)
  })
}
