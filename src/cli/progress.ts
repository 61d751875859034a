/** Progress of long commands. */
import type { Terminal } from './terminal.ts'

type Bytes = AsyncIterable<Uint8Array>

/** Passes pieces on, and counts their bytes. */
export async function* counted(
  pieces: Bytes,
  { isWatched, tell }: Terminal,
  count: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    count.bytes += piece.length
    if (isWatched) tell(`\r  ${count.bytes} bytes`)
    yield piece
  }
  if (isWatched) tell('\r\u001b[K')
}
