/** Text pieces -> an answer that is pulled, so a slow reader holds back its source. */
import type { ServerResponse } from 'node:http'
import type { TextStream } from './call.ts'

type Done = (error?: Error | null) => void

/**
 * Resolves once the system took what was written, and rejects when it did not within `stallMs`.
 * A socket's own timeout begins anew with all that the client sends, so it proves no reader.
 */
function taken(stallMs: number, write: (done: Done) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stalled = setTimeout(() => reject(new Error('the reader takes nothing')), stallMs)
  write((error) => (error ? reject(error) : resolve()))
  return promise.finally(() => clearTimeout(stalled))
}

/**
 * Sends the pieces one at a time, and lets go of their source however it ends. Rejects when a piece
 * fails, for the connection to be broken: what was cut off never ends as if it were whole. So it
 * does when a piece is not taken within `stallMs`: a reader that is gone must not hold a snapshot.
 */
export async function sendText(
  outgoing: ServerResponse,
  { pieces, close }: TextStream,
  stallMs: number,
): Promise<void> {
  // Nobody is told of a reader that left before.
  if (outgoing.destroyed) return close()
  // A source that waits for its next piece is let go at once, not when it has one.
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    for await (const piece of pieces) await taken(stallMs, (done) => outgoing.write(piece, done))
    await taken(stallMs, (done) => outgoing.end(done))
  } finally {
    close()
  }
}
