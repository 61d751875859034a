/**
 * Text that is read from its source at our own pace and kept for a reader who may be slow: a little
 * of it in memory, the rest in a file that nobody else can open.
 */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { problem } from '../errors.ts'
import type { TextStream } from './call.ts'

/** Characters of one text that stay in memory: most are no longer. */
const IN_MEMORY = 65_536

const READ_BYTES = 32_768

export interface Spool {
  /** Reads the stream to its end and closes it. Throws `exports_busy`, or what its source throws. */
  readonly keep: (stream: TextStream) => Promise<TextStream>
}

/** A file without a name, in the system's own place for such. It is gone when it is closed. */
async function openNameless(): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-home-'))
  try {
    return await open(join(directory, 'export'), 'wx+', 0o600)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function* textIn(file: FileHandle): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  const bytes = Buffer.allocUnsafe(READ_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(bytes, 0, READ_BYTES, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield decoder.write(bytes.subarray(0, bytesRead))
  }
}

/** One text: its beginning, and a file for what is longer. */
function createText() {
  const beginning: string[] = []
  let chars = 0
  let file: FileHandle | undefined

  async function* pieces(): AsyncGenerator<string> {
    yield* beginning
    if (file) yield* textIn(file)
  }

  return {
    pieces,
    async add(piece: string): Promise<void> {
      chars += piece.length
      if (chars <= IN_MEMORY) return void beginning.push(piece)
      try {
        file ??= await openNameless()
        await file.appendFile(piece)
      } catch (cause) {
        throw problem('exports_busy', { cause })
      }
    },
    // A read that is under way ends first. Nothing can be done about a file that does not close.
    close: (): void => void file?.close().catch(() => {}),
  }
}

/** `maxBytes` bounds all that is kept at once, in UTF-8; 0 is without bound. */
export function createSpool(maxBytes: number): Spool {
  let keptBytes = 0

  function count(piece: string): number {
    const bytes = Buffer.byteLength(piece)
    if (maxBytes > 0 && keptBytes + bytes > maxBytes) throw problem('exports_busy')
    keptBytes += bytes
    return bytes
  }

  return {
    async keep({ pieces, close }) {
      const text = createText()
      let bytes = 0
      const letGo = (): void => {
        keptBytes -= bytes
        bytes = 0
        text.close()
      }
      try {
        for await (const piece of pieces) {
          bytes += count(piece)
          await text.add(piece)
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
