/** Lines that grow at their end: memories with consecutive numbers, read as one text. */
import { contend } from '../fitting/contend.ts'
import { writePieces } from '../fitting/in-batches.ts'
import { all } from '../fitting/listed.ts'
import { fresh } from '../fitting/names.ts'
import { BATCH, bytesOf, pieces, TEXT_BYTES } from '../fitting/pieces.ts'
import type { AgentHome, Memory, MemorySummary, Operation } from '../index.ts'

const DIGITS = 6

const numbered = (base: string, number: number): string =>
  `${base}.${String(number).padStart(DIGITS, '0')}`

const numberOf = ({ key }: MemorySummary): number => Number(key.slice(-DIGITS))

const NUMBERED = new RegExp(`\\.[0-9]{${DIGITS}}$`)

/** A line that stands for a long one, whose pieces lie in memories of their own. */
const SPREAD = /^(\{"add":"[\w-]+"),"parts":"([\w-]+)","count":([0-9]+)\}$/

/** Bytes of lines that one batch takes, though every character may be escaped. */
const AT_ONCE = 400_000

/** Bytes of a line that is spread where all of them are too much for one batch. */
const LONG_LINE = 8_192

/** Lines, each group as long as one batch takes. */
function groupsOf(lines: readonly string[]): string[] {
  const groups: string[] = []
  let size = 0
  for (const line of lines) {
    const own = bytesOf(line)
    const last = groups.length - 1
    if (last >= 0 && size + own <= AT_ONCE) {
      groups[last] += line
      size += own
    } else {
      groups.push(line)
      size = own
    }
  }
  return groups
}

/** The end of a log: where its last line begins, and everything from there on. */
export interface LastLine {
  readonly line: string
  /** What stands before it in the memory where it begins; '' where it begins the memory. */
  readonly before: string
  readonly memories: readonly Memory[]
}

export class Log {
  readonly #home: AgentHome
  readonly #base: string
  readonly #metadata: Readonly<Record<string, string>>

  /** `metadata`: what every memory of it says, for whoever looks into the home. */
  constructor(home: AgentHome, base: string, metadata: Readonly<Record<string, string>>) {
    this.#home = home
    this.#base = base
    this.#metadata = metadata
  }

  /**
   * Pages are not read in one moment: a line may be cut where others write meanwhile. Throws
   * SyntaxError where pieces are missing.
   */
  async text(): Promise<string> {
    const found = await this.#listed()
    const texts = new Map(found.map(({ key, text = '' }) => [key, text]))
    const text = found.map((each) => (NUMBERED.test(each.key) ? each.text : '')).join('')
    return text.replace(/.+/g, (line) => this.#whole(line, texts))
  }

  /** Whether lines were appended: the first of them says which it is, and is never cut there. */
  async holds(lines: string): Promise<boolean> {
    const begin = lines.slice(0, lines.indexOf(',') + 1)
    const found = (await this.#listed()).filter(({ key }) => NUMBERED.test(key))
    return found.some(({ text = '' }) => text.includes(begin))
  }

  #listed(): Promise<MemorySummary[]> {
    return all(this.#home.list({ prefix: `${this.#base}.`, view: 'whole' }))
  }

  #pieceKey(parts: string, at: number | string): string {
    return `${this.#base}..${parts}.${at}`
  }

  #whole(line: string, texts: ReadonlyMap<string, string>): string {
    const [, , parts = '', count = ''] = SPREAD.exec(line) ?? []
    if (parts === '') return line
    const keys = Array.from({ length: Number(count) }, (_, at) => this.#pieceKey(parts, at))
    if (!keys.every((key) => texts.has(key))) throw new SyntaxError('a line is not whole')
    return keys.map((key) => texts.get(key)).join('')
  }

  /** What is appended at once, in the order of the lines: all of it, unless it is very much. */
  async prepare(lines: readonly string[]): Promise<string[]> {
    if (bytesOf(lines.join('')) <= AT_ONCE) return [lines.join('')]
    const short: string[] = []
    for (const line of lines) {
      short.push(
        bytesOf(line) <= LONG_LINE ? line : await contend(() => this.#spread(line), 'again'),
      )
    }
    return groupsOf(short)
  }

  /** The pieces are written first: nobody sees them until the line is there. */
  async #spread(line: string): Promise<string> {
    const parts = fresh(6)
    const writes = pieces(line.trimEnd()).map((text, at) => ({
      write: {
        key: this.#pieceKey(parts, at),
        text,
        metadata: this.#metadata,
        expectedVersion: 0,
      },
    }))
    await writePieces(this.#home, writes)
    const begin = line.slice(0, line.indexOf(','))
    return `${begin},"parts":"${parts}","count":${writes.length}}\n`
  }

  /** Throws BatchConflict and OutcomeUnknown. */
  async append(lines: string): Promise<void> {
    const last = (await this.#summaries()).at(-1)
    const operations = last && fits(last, lines) ? [grown(last, lines)] : this.#begun(last, lines)
    await this.#home.batch(operations, { minimal: true })
  }

  #begun(last: MemorySummary | undefined, lines: string): Operation[] {
    const next = last ? numberOf(last) + 1 : 1
    return pieces(lines).map((text, at) => ({
      write: {
        key: numbered(this.#base, next + at),
        text,
        metadata: this.#metadata,
        expectedVersion: 0,
      },
    }))
  }

  async lastLine(): Promise<LastLine | undefined> {
    const memories: Memory[] = []
    for (const { key } of (await this.#summaries()).toReversed()) {
      const memory = await this.#home.read(key)
      if (!memory) continue
      if (memories.length > 0 && memory.text.endsWith('\n')) break
      memories.unshift(memory)
      if (memory.text.lastIndexOf('\n', memory.text.length - 2) >= 0) break
    }
    return memories.length === 0 ? undefined : lastLineOf(memories)
  }

  /** Throws VersionConflict, BatchConflict, and OutcomeUnknown of a line in several memories. */
  async cut({ before, memories }: LastLine): Promise<void> {
    const [first, ...rest] = memories
    if (!first) return
    const { key, version: expectedVersion } = first
    if (rest.length > 0) await this.#home.batch([cutOff(first, before), ...rest.map(deleted)])
    else if (before === '') await this.#home.delete(key, { expectedVersion })
    else await this.#home.patch(key, { text: before }, { expectedVersion })
  }

  /** The whole of a line that stands for its pieces. Throws SyntaxError if some are missing. */
  async whole(line: string): Promise<string> {
    const [, , parts = ''] = SPREAD.exec(line.trimEnd()) ?? []
    if (parts === '') return line
    const prefix = this.#pieceKey(parts, '')
    const found = await all(this.#home.list({ prefix, view: 'whole' }))
    const texts = new Map(found.map(({ key, text = '' }) => [key, text]))
    return `${this.#whole(line.trimEnd(), texts)}\n`
  }

  /** Its pieces, once the line is gone. */
  async drop(line: string): Promise<void> {
    const [, , parts = ''] = SPREAD.exec(line.trimEnd()) ?? []
    if (parts !== '') await this.#clear(this.#pieceKey(parts, ''))
  }

  clear(): Promise<void> {
    return this.#clear(`${this.#base}.`)
  }

  async #clear(prefix: string): Promise<void> {
    for (;;) {
      const left = (await all(this.#home.list({ prefix }))).slice(-BATCH.operations)
      if (left.length === 0) return
      await this.#home.batch(left.map(deleted))
    }
  }

  async #summaries(): Promise<MemorySummary[]> {
    const found = await all(this.#home.list({ prefix: `${this.#base}.` }))
    return found.filter(({ key }) => NUMBERED.test(key))
  }
}

const fits = ({ bytes }: MemorySummary, lines: string): boolean =>
  bytes + bytesOf(lines) <= TEXT_BYTES

const grown = ({ key, version }: MemorySummary, text: string): Operation => ({
  append: { key, text, expectedVersion: version },
})

const deleted = ({ key, version }: Pick<Memory, 'key' | 'version'>): Operation => ({
  delete: { key, expectedVersion: version },
})

const cutOff = (first: Memory, text: string): Operation =>
  text === '' ? deleted(first) : { patch: { key: first.key, text, expectedVersion: first.version } }

function lastLineOf(memories: readonly Memory[]): LastLine {
  const text = memories.map((memory) => memory.text).join('')
  const start = text.lastIndexOf('\n', text.length - 2) + 1
  return { line: text.slice(start), before: text.slice(0, start), memories }
}
