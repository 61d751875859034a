/** Text that is read from its source at our own pace and kept for a reader who may be slow. */
import { problem } from '../errors.ts'
import type { TextStream } from './call.ts'
import { createRoom, createSpooledText } from './spooled-text.ts'

/**
 * What all texts together hold in memory where the disk takes nothing: three of the largest
 * exports, so that leaving with everything works while a disk is full.
 */
const BESIDE_FULL_DISK = 67_108_864

export interface Spool {
  /** Reads the stream to its end and closes it. Throws `exports_busy`, or what its source throws. */
  readonly keep: (stream: TextStream) => Promise<TextStream>
}

/** In bytes of UTF-8. */
export interface SpoolBounds {
  /** Of all that is kept at once; 0 is without bound. */
  readonly maxBytes: number
  /** Of what is in memory because no file takes it. */
  readonly memoryBytes?: number
}

export function createSpool({ maxBytes, memoryBytes = BESIDE_FULL_DISK }: SpoolBounds): Spool {
  const room = createRoom(maxBytes)
  const memory = createRoom(memoryBytes)

  return {
    async keep({ pieces, close }) {
      const text = createSpooledText(memory)
      let kept = 0
      const letGo = (): void => {
        room.give(kept)
        kept = 0
        text.close()
      }
      try {
        for await (const piece of pieces) {
          const bytes = Buffer.from(piece)
          if (!room.take(bytes.length)) throw problem('exports_busy')
          kept += bytes.length
          if (!(await text.add(bytes))) throw problem('exports_busy', { cause: text.fault() })
        }
      } catch (error) {
        letGo()
        throw error
      } finally {
        close()
      }
      return { pieces: text.pieces(), close: letGo }
    },
  }
}
