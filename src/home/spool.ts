/**
 * The spool: texts kept outside of the heap for a while, such as exports for slow clients and
 * imports that have not arrived completely. Clients share its space.
 */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { problem } from '../errors.ts'
import type { TextStream } from '../http/call.ts'
import { createConcurrencyLimit, type Held, quarters } from '../http/concurrency-limit.ts'

/**
 * What a client may hold in memory if the disk is full: an export of 10,000 memories of 64 MiB, so
 * that leaving works even then.
 */
const BESIDE_FULL_DISK = 75_497_472

/** Concurrent exports and imports of a client; the start of each text stays in memory. */
export const PLACES = 64

/** Bytes of a text that stay in memory; most texts are shorter. */
const IN_MEMORY = 65_536

const READ_BYTES = 32_768

/** An unnamed temporary file, gone when closed. */
async function openNameless(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-home-'))
  try {
    return await open(join(directory, 'export'), 'wx+', 0o600)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** A file that is used until a write fails; a partial write counts as none. */
function createFile() {
  let file: FileHandle | undefined
  let size = 0
  let fault: unknown

  return {
    fault: (): unknown => fault,
    async write(bytes: Buffer): Promise<boolean> {
      if (fault !== undefined) return false
      try {
        file ??= await openNameless()
        await file.writeFile(bytes)
        size += bytes.length
        return true
      } catch (error) {
        fault = error
        return false
      }
    },
    async *chunks(): AsyncGenerator<Buffer> {
      const chunk = Buffer.allocUnsafe(READ_BYTES)
      for (let at = 0; file && at < size; ) {
        const { bytesRead } = await file.read(chunk, 0, Math.min(READ_BYTES, size - at), at)
        if (bytesRead === 0) throw new Error('the file of a text ended early')
        at += bytesRead
        yield chunk.subarray(0, bytesRead)
      }
    },
    // Waits for a running read. If closing fails, nothing can be done.
    close: async (): Promise<void> => file?.close().catch(() => {}),
  }
}

type File = ReturnType<typeof createFile>

/** A text whose start is in memory, the rest in a file, or in memory if that cannot be written. */
export interface SpooledText {
  /** Throws if there is no space left. */
  readonly add: (piece: Buffer) => Promise<void>
  readonly pieces: () => AsyncGenerator<string>
}

type Busy = 'exports_busy' | 'imports_busy'

/** `held`: of all bytes; `borrowed`: of those that should be in the file. */
function textIn(file: File, held: Held, borrowed: Held, busy: Busy): SpooledText {
  const beginning: Buffer[] = []
  const ending: Buffer[] = []
  let size = 0

  async function* chunks(): AsyncGenerator<Buffer> {
    yield* beginning
    yield* file.chunks()
    yield* ending
  }

  return {
    async add(piece) {
      if (!held.take(piece.length)) throw problem(busy)
      size += piece.length
      if (size <= IN_MEMORY) beginning.push(piece)
      else if (!(await file.write(piece))) {
        if (!borrowed.take(piece.length)) throw problem(busy, { cause: file.fault() })
        ending.push(piece)
      }
    },
    async *pieces() {
      const decoder = new StringDecoder('utf8')
      for await (const chunk of chunks()) yield decoder.write(chunk)
    },
  }
}

/** The texts of one export or import. */
export interface Spooled {
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
      const borrowed = memory.open(client)
      const files: File[] = []
      return {
        begin() {
          const file = createFile()
          files.push(file)
          return textIn(file, held, borrowed, busy)
        },
        async close() {
          held.release()
          borrowed.release()
          leave()
          await Promise.all(files.splice(0).map((file) => file.close()))
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
