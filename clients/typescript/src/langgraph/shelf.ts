/** The checkpoints of a prefix in a home, as memories: filed, found, and given way. */
import { contend } from '../fitting/contend.ts'
import { removeUnseen, withPieces } from '../fitting/in-batches.ts'
import { InTurn } from '../fitting/in-turn.ts'
import { groupBy } from '../fitting/listed.ts'
import { fresh } from '../fitting/names.ts'
import { BATCH, bytesOf, TEXT_BYTES } from '../fitting/pieces.ts'
import { type AgentHome, HomeError, type Memory, type Operation } from '../index.ts'
import {
  type CheckpointLine,
  isOfCheckpoint,
  type LineText,
  lineFor,
  linesIn,
  type WritesLine,
} from './lines.ts'
import {
  entriesUnder,
  type Head,
  headKey,
  type Named,
  namespaceKey,
  removal,
  threadKey,
} from './places.ts'
import { leaving, newestFirst, staying } from './retention.ts'

/** Operations that filing a checkpoint takes at most, beside what gives way. */
const FILING = 2

/** An older checkpoint that has values of this one gave way meanwhile. */
export class HolderGone extends Error {}

export class Shelf {
  readonly #home: AgentHome
  readonly #prefix: string
  readonly #keep: number
  /** A graph adds to a checkpoint while it is filed: neither needs to be begun again. */
  readonly #inTurn = new InTurn()

  constructor(home: AgentHome, prefix: string, keep: number) {
    this.#home = home
    this.#prefix = prefix
    this.#keep = keep
  }

  /** Those that stay, newest first, of one thread or of all. */
  async heads(thread: string | undefined): Promise<Head[]> {
    const key = thread ? await threadKey(this.#prefix, thread) : this.#prefix
    const byThread = groupBy(await this.#headsUnder(key), ({ thread_id }) => thread_id)
    return [...byThread.values()]
      .flatMap((heads) => staying(heads, this.#keep))
      .toSorted(newestFirst)
  }

  async newest(thread: string, namespace: string): Promise<Named | undefined> {
    return (await this.#headsUnder(await namespaceKey(this.#prefix, thread, namespace)))[0]
  }

  /** With what gives way to it. Throws HolderGone. */
  async file(head: Head, line: CheckpointLine): Promise<void> {
    const key = await headKey(this.#prefix, head)
    // Filed again after a lost answer, it replaces itself.
    const written = await lineFor(this.#home, key, 'checkpoint', line)
    await this.#show(key, written, (text) => this.#place(key, head, text))
  }

  async add(named: Named, line: WritesLine): Promise<void> {
    const key = await headKey(this.#prefix, named)
    // A line that is there twice says nothing new.
    const written = await lineFor(this.#home, key, 'writes', line)
    await this.#show(key, written, (text) => this.#append(key, text))
  }

  async deleteThread(thread: string): Promise<void> {
    const key = await threadKey(this.#prefix, thread)
    await contend(() => this.#deleteUnder(key), 'again')
  }

  async #show(
    key: string,
    { text, under }: LineText,
    work: (text: string) => Promise<void>,
  ): Promise<void> {
    let mayBeThere = false
    const attempt = (isUnsure: boolean) => {
      mayBeThere ||= isUnsure
      return work(text)
    }
    await withPieces(
      this.#home,
      () => (mayBeThere ? [] : under),
      () => this.#inTurn.run(key, () => contend(attempt, 'again')),
    )
  }

  async #headsUnder(key: string): Promise<Head[]> {
    const entries = await entriesUnder(this.#home, key)
    return entries.flatMap(({ head }) => head ?? []).toSorted(newestFirst)
  }

  async #place(key: string, head: Head, text: string): Promise<void> {
    const entries = await entriesUnder(this.#home, await threadKey(this.#prefix, head.thread_id))
    const there = entries.some((entry) => entry.key === key && entry.version > 0)
      ? await this.#home.read(key)
      : undefined
    const left = leaving(entries, head, this.#keep)
    if (!left) throw new HolderGone()
    const removals = left.flatMap(removal)
    const room = BATCH.operations - FILING
    await this.#home.batch([...filing(key, head, text, there), ...removals.slice(0, room)])
    await removeUnseen(this.#home, removals.slice(room))
  }

  async #append(key: string, text: string): Promise<void> {
    try {
      await this.#home.append(key, text)
    } catch (error) {
      if (!(error instanceof HomeError) || error.code !== 'text_too_large') throw error
      await this.#home.write(`${key}.${fresh(3)}`, text, BESIDE)
    }
  }

  async #deleteUnder(key: string): Promise<void> {
    for (;;) {
      const operations = (await entriesUnder(this.#home, key)).flatMap(removal)
      if (operations.length === 0) return
      await this.#home.batch(operations.slice(0, BATCH.operations))
    }
  }
}

/** More lines of a checkpoint whose memory is full. */
const BESIDE = { expectedVersion: 0, metadata: { lines: true } }

/** What tasks wrote may have come before the checkpoint, or belong to it as it was filed before. */
function filing(key: string, head: Head, text: string, there: Memory | undefined): Operation[] {
  const written = linesIn(there?.text ?? '')
    .filter((line) => !isOfCheckpoint(JSON.parse(line)))
    .map((line) => `${line}\n`)
    .join('')
  const hasRoom = bytesOf(text) + bytesOf(written) <= TEXT_BYTES
  const own = { key, metadata: { ...head }, expectedVersion: there?.version ?? 0 }
  if (hasRoom) return [{ write: { ...own, text: text + written } }]
  const beside = { write: { key: `${key}.${fresh(3)}`, text: written, ...BESIDE } }
  return [{ write: { ...own, text } }, beside]
}
