/** Text pieces -> an answer that is pulled, so a slow reader holds back its source. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { TextStream } from './call.ts'

/**
 * Sends the pieces, and lets go of their source however it ends. Rejects when a piece fails, with
 * the connection broken: what was cut off never ends as if it were whole. A reader that takes
 * nothing for `stallMs` is cut off too, for it holds a snapshot open.
 */
export async function sendText(
  outgoing: ServerResponse,
  { pieces, close }: TextStream,
  stallMs: number,
): Promise<void> {
  outgoing.setTimeout(stallMs, () => outgoing.destroy())
  // A source that waits for its next piece is let go at once, before the pipeline has ended.
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    await pipeline(Readable.from(pieces), outgoing)
  } finally {
    close()
  }
}
