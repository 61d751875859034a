/** A text of any length that grows at its end: memories with consecutive numbers, read as one. */
import { all } from '../fitting/listed.ts'
import { BATCH, bytesOf, pieces, TEXT_BYTES } from '../fitting/pieces.ts'
import type { AgentHome, Memory, MemorySummary, Operation } from '../index.ts'

const DIGITS = 6

const numbered = (base: string, number: number): string =>
  `${base}.${String(number).padStart(DIGITS, '0')}`

const numberOf = ({ key }: MemorySummary): number => Number(key.slice(-DIGITS))

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

  /** Pages are not read in one moment: a line may be cut where others write meanwhile. */
  async text(): Promise<string> {
    const found = await all(this.#home.list({ prefix: `${this.#base}.`, view: 'whole' }))
    return found.map(({ text = '' }) => text).join('')
  }

  /** Throws BatchConflict, OutcomeUnknown, and RangeError for what no batch takes. */
  async append(lines: string): Promise<void> {
    const last = (await this.#summaries()).at(-1)
    const operations = last && fits(last, lines) ? [grown(last, lines)] : this.#begun(last, lines)
    requireOneBatch(operations)
    await this.#home.batch(operations)
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

  async clear(): Promise<void> {
    for (;;) {
      const left = (await this.#summaries()).slice(-BATCH.operations)
      if (left.length === 0) return
      await this.#home.batch(left.map(deleted))
    }
  }

  #summaries(): Promise<MemorySummary[]> {
    return all(this.#home.list({ prefix: `${this.#base}.` }))
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

function requireOneBatch(operations: readonly Operation[]): void {
  const isTooMuch =
    operations.length > BATCH.operations || bytesOf(JSON.stringify(operations)) > BATCH.bytes
  if (isTooMuch) throw new RangeError('items of more than about 500 KB cannot be added at once')
}
