/**
 * The indexes of recently searched homes, each updated from the home's events before it answers. A
 * key with a prefix has its own index, because nothing in its results may depend on memories that
 * it cannot read.
 */
import { createKeyedQueue } from '../../keyed-queue.ts'
import type { EventStore, HomeEvent } from '../port/events.ts'
import type { Identity, Refused } from '../port/identity.ts'
import type { MemoryStore } from '../port/memories.ts'
import type { VectorsPage } from '../port/vectors.ts'
import { HomeIndex, type IndexedMemory } from './home-index.ts'
import type { Turn } from './vocabulary.ts'

/** Some memories of a home, in the order of their keys. */
export type MemorySlice =
  | {
      readonly outcome: 'memories'
      readonly memories: readonly IndexedMemory[]
      /** `after` for the next; undefined at the end. */
      readonly next: string | undefined
    }
  | Refused

/** Bytes that are read and indexed without a pause: a few milliseconds. */
export const SLICE = { memories: 512, bytes: 128 * 1_024 } as const

/** What a search needs of its store. */
export interface SearchSource
  extends Pick<EventStore, 'eventsAfter'>,
    Pick<MemoryStore, 'readMemory'> {
  readSlice(identity: Identity, prefix: string, after: string): Promise<MemorySlice>
  vectorsAfter(identity: Identity, prefix: string, after: number): Promise<VectorsPage | Refused>
}

interface Entry {
  readonly agentId: string
  readonly prefix: string
  readonly index: HomeIndex
  /** The event up to which the index is current; undefined before it is built. */
  at: Position | undefined
  users: number
  /** To be closed when nobody uses it any more. */
  isStale: boolean
  readonly closed: PromiseWithResolvers<void>
}

/**
 * The last event that was applied. If another event has its number, the home was restored from a
 * backup.
 */
interface Position {
  readonly id: number
  readonly event: HomeEvent | undefined
}

type Refreshed =
  /** `looked`: UTF-8 bytes that were read. */
  | { readonly outcome: 'up_to_date'; readonly looked: number }
  /** The index must be rebuilt. */
  | { readonly outcome: 'stale' }
  | Refused

const STALE = { outcome: 'stale' } as const

/** Events, and changed memories, read per call. */
const EVENTS_AT_ONCE = 1_000
const MEMORIES_AT_ONCE = 64

const sizeOf = ({ text, metadata }: Pick<IndexedMemory, 'text' | 'metadata'>): number =>
  Buffer.byteLength(text) + Buffer.byteLength(metadata)

const sameEvent = (a: HomeEvent | undefined, b: HomeEvent | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

/** Larger homes are built one at a time, because building takes memory. */
const LARGE_BYTES = 4 * 1_048_576

/** Updates an index. */
class Filling {
  readonly #inTurn = createKeyedQueue()
  readonly #source: SearchSource
  readonly #turn: Turn

  constructor(source: SearchSource, turn: Turn) {
    this.#source = source
    this.#turn = turn
  }

  /** `withVectors`: they are read only if they are searched. */
  async bringUpToDate(identity: Identity, entry: Entry, withVectors: boolean): Promise<Refreshed> {
    const texts = await (entry.at
      ? this.#catchUp(identity, entry, entry.at)
      : this.#build(identity, entry))
    if (!withVectors || texts.outcome !== 'up_to_date') return texts
    const vectors = await this.#putVectors(identity, entry)
    if (vectors.outcome !== 'up_to_date') return vectors
    return { outcome: 'up_to_date', looked: texts.looked + vectors.looked }
  }

  /** Those that were stored or moved since. */
  async #putVectors(identity: Identity, { index: { vectors }, prefix }: Entry): Promise<Refreshed> {
    for (let looked = 0; ; ) {
      const page = await this.#source.vectorsAfter(identity, prefix, vectors.at)
      if (page.outcome !== 'vectors') return page
      // The home was restored from a backup.
      if (page.last < vectors.at) return STALE
      for (const each of page.vectors) {
        vectors.put(each)
        looked += each.vector.byteLength
      }
      if (page.isEnd) return { outcome: 'up_to_date', looked }
      await this.#turn()
    }
  }

  async #positionOf(identity: Identity): Promise<Position | Refused> {
    const start = await this.#source.eventsAfter(identity, 0, 1)
    if (start.outcome !== 'events') return start
    const newest = await this.#source.eventsAfter(identity, Math.max(0, start.last - 1), 1)
    if (newest.outcome !== 'events') return newest
    return { id: start.last, event: newest.events[0] }
  }

  /** `from`: the key after which to go on, when `read` bytes have been read. */
  async #fill(identity: Identity, entry: Entry, from = '', read = 0): Promise<Refreshed> {
    const { index, prefix } = entry
    let looked = read
    for (let after: string | undefined = from; after !== undefined; ) {
      if (looked > LARGE_BYTES && read === 0) {
        const start = after
        return this.#inTurn('large', () => this.#fill(identity, entry, start, looked))
      }
      // An erasure need not wait for an index that is not used any more.
      if (entry.isStale) return STALE
      const slice: MemorySlice = await this.#source.readSlice(identity, prefix, after)
      if (slice.outcome !== 'memories') return slice
      for (const memory of slice.memories) {
        index.put(memory)
        looked += sizeOf(memory)
      }
      after = slice.next
      await this.#turn()
    }
    return { outcome: 'up_to_date', looked }
  }

  /** Memories that change meanwhile are read again through their events. */
  async #build(identity: Identity, entry: Entry): Promise<Refreshed> {
    const position = await this.#positionOf(identity)
    if ('outcome' in position) return position
    const filled = await this.#fill(identity, entry)
    if (filled.outcome === 'up_to_date') entry.at = position
    return filled
  }

  async #catchUp(identity: Identity, entry: Entry, at: Position): Promise<Refreshed> {
    const changed = await this.#changedSince(identity, entry, at)
    if (changed.outcome !== 'changed') return changed
    const { keys, position } = changed
    if (entry.index.isFragmented) return STALE
    // Batches save time.
    if (keys.size > MEMORIES_AT_ONCE && keys.size > entry.index.docs.size / 2) return STALE
    const done = await this.#putAgain(identity, entry, [...keys])
    if (done.outcome === 'up_to_date') entry.at = position
    return done
  }

  /** Keys that have changed since. */
  async #changedSince(identity: Identity, { prefix }: Entry, at: Position) {
    const keys = new Set<string>()
    let position = at
    // Starts with the last event that was applied, to compare it.
    let after = Math.max(0, at.id - 1)
    let isFirst = at.id > 0
    for (;;) {
      const page = await this.#source.eventsAfter(identity, after, EVENTS_AT_ONCE)
      if (page.outcome !== 'events') return page
      if (page.missed || (isFirst && !sameEvent(page.events[0], at.event))) return STALE
      for (const event of page.events.slice(isFirst ? 1 : 0)) {
        position = { id: event.id, event }
        const named = [event.key, event.from].filter((key) => key?.startsWith(prefix))
        // Nothing of an erased text may remain in the index.
        if (event.type === 'erase' && named.length > 0) return STALE
        for (const key of named) if (key !== undefined) keys.add(key)
      }
      if (page.reached >= page.last) return { outcome: 'changed', keys, position } as const
      after = page.reached
      isFirst = false
      await this.#turn()
    }
  }

  async #putAgain(
    identity: Identity,
    { index }: Entry,
    keys: readonly string[],
  ): Promise<Refreshed> {
    let looked = 0
    for (let from = 0; from < keys.length; from += MEMORIES_AT_ONCE) {
      const some = keys.slice(from, from + MEMORIES_AT_ONCE)
      const answers = await Promise.all(some.map((key) => this.#source.readMemory(identity, key)))
      for (const [at, answer] of answers.entries()) {
        if (answer.outcome === 'found') {
          index.put(answer.memory)
          looked += sizeOf(answer.memory)
        } else if (answer.outcome === 'missing') index.remove(some[at] ?? '')
        else return answer
      }
      await this.#turn()
    }
    return { outcome: 'up_to_date', looked }
  }
}

const nameOf = ({ agentId, prefix }: Pick<Entry, 'agentId' | 'prefix'>): string =>
  `${agentId} ${prefix}`

export class Indexes {
  readonly #filling: Filling
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #inTurn = createKeyedQueue()

  /** `maxBytes`: for all of them together; the one in use may exceed it. */
  constructor(source: SearchSource, maxBytes: number, turn: Turn) {
    this.#filling = new Filling(source, turn)
    this.#maxBytes = maxBytes
  }

  /** Calls the work with a current index, which may be built first. `looked`: UTF-8 bytes read. */
  async use<T>(
    identity: Identity,
    withVectors: boolean,
    work: (index: HomeIndex) => Promise<T>,
  ): Promise<{ readonly outcome: 'used'; readonly result: T; readonly looked: number } | Refused> {
    for (;;) {
      const entry = this.#entryOf(identity.agentId, identity.key?.prefix ?? '')
      entry.users++
      try {
        const refreshed = await this.#refresh(identity, entry, withVectors)
        if (refreshed.outcome === 'up_to_date') {
          return { outcome: 'used', result: await work(entry.index), looked: refreshed.looked }
        }
        if (refreshed.outcome !== 'stale') return refreshed
        this.#drop(entry)
      } finally {
        entry.users--
        this.#closeUnused(entry)
        this.#trim()
      }
    }
  }

  /** Resolves when no index contains a text of the home. */
  async forget(agentId: string): Promise<void> {
    const its = [...this.#entries.values()].filter((entry) => entry.agentId === agentId)
    for (const entry of its) this.#drop(entry)
    await Promise.all(its.map(({ closed }) => closed.promise))
  }

  close(): void {
    for (const entry of [...this.#entries.values()]) this.#drop(entry)
  }

  #entryOf(agentId: string, prefix: string): Entry {
    const name = nameOf({ agentId, prefix })
    const entry = this.#entries.get(name) ?? {
      ...{ agentId, prefix, index: new HomeIndex(), at: undefined },
      ...{ users: 0, isStale: false, closed: Promise.withResolvers<void>() },
    }
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    return entry
  }

  /** Updates run one after the other. An index whose update failed is not used again. */
  #refresh(identity: Identity, entry: Entry, withVectors: boolean): Promise<Refreshed> {
    return this.#inTurn(nameOf(entry), async () => {
      if (entry.isStale) return STALE
      try {
        const refreshed = await this.#filling.bringUpToDate(identity, entry, withVectors)
        if (refreshed.outcome !== 'up_to_date' && !entry.at) this.#drop(entry)
        return refreshed
      } catch (error) {
        this.#drop(entry)
        throw error
      }
    })
  }

  #drop(entry: Entry): void {
    if (entry.isStale) return
    this.#entries.delete(nameOf(entry))
    entry.isStale = true
    this.#closeUnused(entry)
  }

  #closeUnused(entry: Entry): void {
    if (!entry.isStale || entry.users > 0) return
    entry.closed.resolve()
  }

  #trim(): void {
    let bytes = this.#entries.values().reduce((sum, { index }) => sum + index.bytes, 0)
    for (const entry of [...this.#entries.values()]) {
      if (bytes <= this.#maxBytes) return
      if (entry.users > 0) continue
      bytes -= entry.index.bytes
      this.#drop(entry)
    }
  }
}
