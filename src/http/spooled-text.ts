/** One text that waits for its reader: its beginning in memory, the rest in a file, if the disk takes it. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Held } from './limits/concurrency-limit.ts'

/** Bytes of one text that stay in memory: most are no longer. */
const IN_MEMORY = 65_536

const READ_BYTES = 32_768

/** A file without a name, in the system's own place for such. It is gone when it is closed. */
async function openNameless(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-home-'))
  try {
    return await open(join(directory, 'export'), 'wx+', 0o600)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** A file for as long as the disk takes what is written: what it took in part counts as not written. */
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
    // A read that is under way ends first. Nothing can be done about a file that does not close.
    close: async (): Promise<void> => file?.close().catch(() => {}),
  }
}

export interface SpooledText {
  /** False where neither the disk nor the memory has room for it. */
  readonly add: (piece: Buffer) => Promise<boolean>
  /** Why the disk takes no more of it; undefined while it does. */
  readonly fault: () => unknown
  readonly pieces: () => AsyncGenerator<string>
  /** Resolves once its file is gone. */
  readonly close: () => Promise<void>
}

/** `memory`: what may be held of it in the place of a file. */
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
