/** Imports in progress: one per agent, spooled until they are written. */
import { problem } from '../../errors.ts'
import { createFairQueue } from '../../http/fair-queue.ts'
import { atOnce } from '../limits.ts'
import type { Spool, SpooledText } from '../spool.ts'

/** Bytes buffered before they are written to the spool. */
const PAGE_BYTES = 16_384

/** A list that is spooled line by line and can be read repeatedly. */
export interface SpooledList {
  /** Throws `imports_busy`. */
  readonly add: (line: string) => Promise<void>
  /** Call after the last line. */
  readonly end: () => Promise<void>
  readonly lines: () => AsyncGenerator<string>
}

export interface Import {
  readonly spoolList: () => SpooledList
  /** Runs the write when it is the client's turn. Throws `imports_busy`. */
  readonly inTurn: <T>(write: () => Promise<T>) => Promise<T>
  /** The import is over. */
  readonly close: () => void
}

export interface Imports {
  /** Throws `import_running` or `imports_busy`. */
  readonly begin: (client: string, agentId: string) => Import
}

async function* linesOf(text: SpooledText): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of text.pieces()) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function createSpooledList(text: SpooledText): SpooledList {
  let page = ''
  const put = async () => {
    const bytes = Buffer.from(page)
    page = ''
    await text.add(bytes)
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

/** Concurrent writes, one per client. Every import that has been received may wait. */
const WRITING = {
  atOnce: atOnce.imports.inAll,
  perClient: atOnce.imports.perAddress,
  places: 256,
}

export function createImports(spool: Spool): Imports {
  const running = new Set<string>()
  const writing = createFairQueue({ ...WRITING, busy: () => problem('imports_busy') })
  return {
    begin(client, agentId) {
      if (running.has(agentId)) throw problem('import_running', { headers: { 'Retry-After': '1' } })
      const spooled = spool.open(client, 'imports_busy')
      running.add(agentId)
      return {
        spoolList: () => createSpooledList(spooled.begin()),
        inTurn: (write) => writing.run({ client }, write),
        close() {
          void spooled.close()
          running.delete(agentId)
        },
      }
    },
  }
}
