/** Exports under way: one of an agent at a time, and none that waits in the store for its reader. */
import { problem } from '../errors.ts'
import type { TextStream } from '../http/call.ts'
import { createSpool } from '../http/spool.ts'

export interface Exports {
  /**
   * Reads what `begin` opens, for its reader to take at leave. Throws `export_running`,
   * `exports_busy`, or what `begin` and its source throw.
   */
  readonly take: (
    agentId: string,
    begin: () => Promise<TextStream>,
    mayRead: MayRead,
  ) => Promise<TextStream>
}

/** Throws where the export may be read no longer. */
export type MayRead = () => Promise<void>

/** Breaks off before the next piece: a reader who is slow may lose its right on the way. */
async function* whileAllowed(
  pieces: AsyncIterable<string>,
  mayRead: MayRead,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    await mayRead()
    yield piece
  }
}

/** Both are over when the last byte was sent, or the reader left. */
export function createExports(maxBytes: number): Exports {
  const running = new Set<string>()
  const spool = createSpool({ maxBytes })
  return {
    async take(agentId, begin, mayRead) {
      if (running.has(agentId)) throw problem('export_running', { headers: { 'Retry-After': '1' } })
      running.add(agentId)
      try {
        const { pieces, close } = await spool.keep(await begin())
        return {
          pieces: whileAllowed(pieces, mayRead),
          close() {
            close()
            running.delete(agentId)
          },
        }
      } catch (error) {
        running.delete(agentId)
        throw error
      }
    },
  }
}
