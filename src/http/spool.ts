/**
 * Texts that are kept outside of the process's memory for a while: exports that wait for a slow
 * reader, imports that have not arrived whole. Clients share the room for them.
 */
import { problem } from '../errors.ts'
import type { TextStream } from './call.ts'
import { createConcurrencyLimit, quarters } from './limits/concurrency-limit.ts'
import { createSpooledText, type SpooledText } from './spooled-text.ts'

/**
 * What one client holds in memory where the disk takes nothing: an export of 10,000 memories of
 * 64 MiB in all, so that leaving with everything works while a disk is full.
 */
const BESIDE_FULL_DISK = 75_497_472

/** Exports and imports of one client under way: the beginnings of their texts stay in memory. */
export const PLACES = 64

export type Busy = 'exports_busy' | 'imports_busy'

/** The texts of one export or import. */
export interface Spooled {
  /** Begins a text, whose `add` throws where there is no room for more. */
  readonly begin: () => SpooledText
  /** Lets go of them, and resolves once their files are gone. May be called again. */
  readonly close: () => Promise<void>
}

export interface SpooledStream extends TextStream {
  readonly close: Spooled['close']
}

export interface Spool {
  /** Throws `busy`, as what is opened does, where the client or all clients hold all they may. */
  readonly open: (client: string, busy: Busy) => Spooled
}

/** In bytes of UTF-8, of one client; all clients together may hold four times as much. */
export interface SpoolBounds {
  /** Of all that is kept at once; 0 is without bound. */
  readonly maxBytes: number
  /** Of what is in memory because no file takes it. */
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
 * Reads what `begin` opens to its end, at our own pace, and closes it. Throws what these throw, or
 * the signal's reason, and then holds nothing.
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
