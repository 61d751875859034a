/**
 * The spool: texts kept outside of the heap for a while, such as exports for slow clients and
 * imports that have not arrived completely. Clients share its space.
 */
import { problem } from '../errors.ts'
import type { TextStream } from './call.ts'
import { createConcurrencyLimit, quarters } from './concurrency-limit.ts'
import { createSpooledText, type SpooledText } from './spooled-text.ts'

/**
 * What a client may hold in memory if the disk is full: an export of 10,000 memories of 64 MiB, so
 * that leaving works even then.
 */
const BESIDE_FULL_DISK = 75_497_472

/** Concurrent exports and imports of a client; the start of each text stays in memory. */
export const PLACES = 64

export type Busy = 'exports_busy' | 'imports_busy'

/** The texts of one export or import. */
export interface Spooled {
  /** Begins a text. Its `add` throws if there is no space left. */
  readonly begin: () => SpooledText
  /** Releases the texts, and resolves when their files are gone. May be called again. */
  readonly close: () => Promise<void>
}

export interface SpooledStream extends TextStream {
  readonly close: Spooled['close']
}

export interface Spool {
  /**
   * Throws `busy`, as the opened texts do, if the client or all clients together are at their
   * limit.
   */
  readonly open: (client: string, busy: Busy) => Spooled
}

/** UTF-8 bytes per client; all clients together may hold four times as much. */
export interface SpoolBounds {
  /** The total limit; 0 means none. */
  readonly maxBytes: number
  /** Bytes held in memory because they could not be written to a file. */
  readonly memoryBytes?: number
}

export function createSpool({ maxBytes, memoryBytes = BESIDE_FULL_DISK }: SpoolBounds): Spool {
  const places = createConcurrencyLimit(quarters(PLACES))
  const room = createConcurrencyLimit(quarters(maxBytes))
  const memory = createConcurrencyLimit(quarters(memoryBytes))

  return {
    open(client, busy) {
      const leave = places.take(client)
      if (!leave) throw problem(busy)
      const held = room.open(client)
      const texts: SpooledText[] = []
      return {
        begin() {
          const text = createSpooledText(memory.open(client))
          texts.push(text)
          return {
            ...text,
            async add(piece) {
              if (!held.take(piece.length)) throw problem(busy)
              if (!(await text.add(piece))) throw problem(busy, { cause: text.fault() })
              return true
            },
          }
        },
        async close() {
          held.release()
          leave()
          await Promise.all(texts.splice(0).map((text) => text.close()))
        },
      }
    },
  }
}

/**
 * Reads the text that `begin` opens to its end, without waiting for a client, and closes it. Throws
 * their errors or the signal's reason, and then holds nothing.
 */
export async function keepIn(
  spooled: Spooled,
  begin: () => Promise<TextStream>,
  signal?: AbortSignal,
): Promise<SpooledStream> {
  try {
    const { pieces, close } = await begin()
    try {
      const text = spooled.begin()
      for await (const piece of pieces) {
        signal?.throwIfAborted()
        await text.add(Buffer.from(piece))
      }
      return { pieces: text.pieces(), close: spooled.close }
    } finally {
      close()
    }
  } catch (error) {
    await spooled.close()
    throw error
  }
}
