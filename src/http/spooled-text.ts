/** A spooled text: its start in memory, the rest in a file if possible. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Held } from './concurrency-limit.ts'

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

export interface SpooledText {
  /** False if neither disk nor memory has space. */
  readonly add: (piece: Buffer) => Promise<boolean>
  /** Why the disk accepts no more; undefined if it does. */
  readonly fault: () => unknown
  readonly pieces: () => AsyncGenerator<string>
  /** Resolves when its file is gone. */
  readonly close: () => Promise<void>
}

/** `memory`: the limit for text that should be in a file. */
export function createSpooledText(memory: Held): SpooledText {
  const beginning: Buffer[] = []
  const ending: Buffer[] = []
  const file = createFile()
  let size = 0

  function borrow(piece: Buffer): boolean {
    if (!memory.take(piece.length)) return false
    ending.push(piece)
    return true
  }

  async function* chunks(): AsyncGenerator<Buffer> {
    yield* beginning
    yield* file.chunks()
    yield* ending
  }

  return {
    async add(piece) {
      size += piece.length
      if (size > IN_MEMORY) return (await file.write(piece)) || borrow(piece)
      beginning.push(piece)
      return true
    },
    fault: file.fault,
    async *pieces() {
      const decoder = new StringDecoder('utf8')
      for await (const chunk of chunks()) yield decoder.write(chunk)
    },
    close() {
      memory.release()
      return file.close()
    },
  }
}
