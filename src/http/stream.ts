/** Text pieces -> an answer that is pulled, so a slow reader holds back its source. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { TextStream } from './call.ts'

/**
 * Sends the pieces, and lets go of their source however it ends. A piece that fails breaks the
 * connection: what was cut off never ends as if it were whole. So does a reader that takes nothing
 * for `stallMs`, for it holds a snapshot open.
 */
export async function sendText(
  outgoing: ServerResponse,
  { pieces, close }: TextStream,
  stallMs: number,
): Promise<void> {
  outgoing.setTimeout(stallMs, () => outgoing.destroy())
  outgoing.once('close', close)
  outgoing.flushHeaders()
  try {
    await pipeline(Readable.from(pieces), outgoing)
  } catch {
    outgoing.destroy()
  } finally {
    close()
  }
}
