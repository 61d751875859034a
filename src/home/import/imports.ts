/** Imports under way: one of an agent at a time, and what they wait in before they are written. */
import { problem } from '../../errors.ts'
import { createRoom, createSpooledText, type SpooledText } from '../../http/spooled-text.ts'

/** What all imports together hold in memory where the disk takes nothing. */
const BESIDE_FULL_DISK = 33_554_432

/** Bytes that are gathered before they are put away. */
const PAGE_BYTES = 16_384

/** A list that is put away line by line, and read as often as one likes. */
export interface Shelf {
  /** Throws `imports_busy`. */
  readonly add: (line: string) => Promise<void>
  /** Once nothing more comes. */
  readonly end: () => Promise<void>
  readonly lines: () => AsyncGenerator<string>
}

export interface Import {
  readonly shelf: () => Shelf
  /** The import is over. */
  readonly close: () => void
}

export interface Imports {
  /** Throws `import_running`. */
  readonly begin: (agentId: string) => Import
}

async function* linesOf(text: SpooledText): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of text.pieces()) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** `keep` takes the bytes, or throws. */
function createShelf(text: SpooledText, keep: (bytes: Buffer) => Promise<void>): Shelf {
  let page = ''
  const put = async () => {
    const bytes = Buffer.from(page)
    page = ''
    await keep(bytes)
  }
  return {
    async add(line) {
      page += `${line}\n`
      if (page.length >= PAGE_BYTES) await put()
    },
    end: put,
    lines: () => linesOf(text),
  }
}

/** `maxBytes`: of all imports at once; 0 is without bound. */
export function createImports(maxBytes: number): Imports {
  const running = new Set<string>()
  const room = createRoom(maxBytes)
  const memory = createRoom(BESIDE_FULL_DISK)
  return {
    begin(agentId) {
      if (running.has(agentId)) throw problem('import_running', { headers: { 'Retry-After': '1' } })
      running.add(agentId)
      const texts: SpooledText[] = []
      let kept = 0
      const keepIn = (text: SpooledText) => async (bytes: Buffer) => {
        if (!room.take(bytes.length)) throw problem('imports_busy')
        kept += bytes.length
        if (!(await text.add(bytes))) throw problem('imports_busy', { cause: text.fault() })
      }
      return {
        shelf() {
          const text = createSpooledText(memory)
          texts.push(text)
          return createShelf(text, keepIn(text))
        },
        close() {
          for (const text of texts) text.close()
          room.give(kept)
          running.delete(agentId)
        },
      }
    },
  }
}
