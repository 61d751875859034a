/** What an agent finds in its home, and what it leaves with. */
import { streamIn } from './answer.ts'
import { Batches } from './batches.ts'
import { follow } from './chain.ts'
import { HistoryChanged, HomeError, TurnedBack } from './errors.ts'
import { type EventsOptions, type WatchOptions, watchEvents } from './event-stream.ts'
import type { AgentHomeOptions } from './memories.ts'
import { pages } from './pages.ts'
import type { Ask, CallOptions } from './transport.ts'
import { added, base64Of, requestsOf } from './vectors.ts'
import type {
  Context,
  HeadResult,
  HomeEvent,
  Link,
  MemoryHit,
  MemorySummary,
  MissedEvents,
  NewVector,
  ProfileResult,
  RestorableMemory,
  VectorsStored,
} from './wire.ts'

export interface ListOptions extends CallOptions {
  /** Only keys that begin so. */
  readonly prefix?: string
  /** Only what comes after this key, in the order of keys. */
  readonly after?: string
  /** By key by default; `changed`: most recently changed first. */
  readonly order?: 'key' | 'changed'
  /** `whole` gives the texts too. */
  readonly view?: 'summary' | 'whole'
  /** At most so many; all unless told. */
  readonly limit?: number
}

export type DeletedOptions = Omit<ListOptions, 'order' | 'view'>

export interface SearchOptions extends CallOptions {
  readonly prefix?: string
  /** `all`: every word must be there, whole or as a part of another. Default: `any`. */
  readonly match?: 'any' | 'all'
  /** By meaning too, or by meaning alone where the question is empty. */
  readonly meaning?: Meaning
  /** 0 to 2: so many memories right before and after each come with it, none unless told. */
  readonly around?: number
  /** At most so many; all unless told. */
  readonly limit?: number
}

/** Memories as they are found, one page asked for after the other. */
export interface Hits extends AsyncIterable<MemoryHit> {
  /**
   * Words of the question that no memory has in any form, in lower case: ask with other words.
   * Known from the first memory on, or from the end; empty before.
   */
  readonly missing: readonly string[]
}

/** Longer words are sent in a body, because URLs are short. */
const LONGEST_IN_URL = 500

type Sent = Pick<Ask<never>, 'method' | 'reads' | 'body' | 'query'>

const inBody = (body: object): Sent => ({ method: 'POST', reads: true, body })

const sentFor = (words: string | undefined, asked: NonNullable<Sent['query']>): Sent =>
  words !== undefined && words.length > LONGEST_IN_URL ? inBody(asked) : { query: asked }

/** What is asked for, as your model sees it. */
export interface Meaning {
  /** As in `storeVectors`. */
  readonly model: string
  readonly vector: ArrayLike<number>
}

export interface ContextOptions extends CallOptions {
  /** What the agent is about to do, in its own words: at most 16384 bytes of UTF-8. */
  readonly about?: string
  /** As in a search. */
  readonly around?: number
  readonly bytes?: number
  /** `mine`: what others changed since this token last wrote, or asked for it on another day. */
  readonly since?: 'mine'
  /** With the head of the chain of events. */
  readonly proof?: boolean
}

interface Listed<T> {
  readonly memories: readonly T[]
  readonly next: string | null
}

interface Found extends Listed<MemoryHit> {
  /** Homes of 2.0 do not tell it. */
  readonly missing?: readonly string[]
}

const pageOf = <T>({ memories, next }: Listed<T>) => ({ items: memories, next })

export interface CheckOptions extends CallOptions {
  /** Instead of what `heads` gives. */
  readonly remembered?: Link | undefined
  /** Takes the home as it is, and remembers its head. */
  readonly accept?: boolean | undefined
}

export interface Checked {
  /** The newest event, now remembered. */
  readonly head: Link
  /** How many events were computed anew. */
  readonly events: number
  /**
   * What the first of them follows: the remembered head, or a later event if those in between are
   * no longer in the log. Undefined if nothing was remembered.
   */
  readonly since: Link | undefined
}

interface ChainPage {
  readonly events: readonly HomeEvent[]
  readonly next: number | null
  readonly previous?: Link
}

const CHECKED_AT_ONCE = 1_000

export class Home extends Batches {
  constructor(options: AgentHomeOptions = {}) {
    super(options)
    if (options.heads) this.transport.beforeFirst(() => this.#wake())
  }

  /** Whether the history was checked: a paused agent cannot, and may still ask who it is. */
  async #wake(): Promise<boolean> {
    try {
      await this.check()
      return true
    } catch (error) {
      if (error instanceof HomeError && error.code === 'agent_paused') return false
      throw error
    }
  }

  /**
   * Who the agent is, and how many memories it has. A paused agent may still ask it.
   *
   * ```ts
   * const { profile, memoryCount } = await home.profile()
   * console.log(profile.name, profile.status, memoryCount)
   * ```
   */
  profile(options: CallOptions = {}): Promise<ProfileResult> {
    return this.transport.ask({ path: '/me', ...options })
  }

  /**
   * What to read first after waking: profile, limits left, pinned memories whole, what is known
   * about the task at hand, the newest other memories (short ones whole, of others the first line),
   * all within so many bytes (4000 unless told, 2000 to 65536).
   *
   * ```ts
   * const { pinned, found } = await home.context({ about: 'Plan the next step' })
   * console.log(pinned.map(({ text }) => text))
   * for (const { key, text, snippet } of found) console.log(key, text ?? snippet)
   * const letter = 'A task in many words. '.repeat(30)
   * const { missing, others } = await home.context({ about: letter, since: 'mine' })
   * ```
   */
  context(asked: ContextOptions = {}): Promise<Context> {
    const { about, around, bytes, since, proof, ...options } = asked
    const sent = sentFor(about, { about, around, bytes, since, proof })
    return this.transport.ask({ path: '/me/context', ...sent, ...options })
  }

  /**
   * The memories, one page asked for after the other as they are used up.
   *
   * ```ts
   * for await (const { key, version } of home.list({ order: 'changed' })) console.log(key, version)
   * ```
   */
  list({
    prefix,
    after,
    order,
    view,
    limit,
    ...options
  }: ListOptions = {}): AsyncIterable<MemorySummary> {
    return pages(
      (from: string | undefined, most) =>
        this.transport
          .ask<Listed<MemorySummary>>({
            path: '/me/memories',
            query: { prefix, order, view, after: from, limit: most },
            ...options,
          })
          .then(pageOf),
      { start: after, limit },
    )
  }

  /**
   * Deleted memories that can be restored, by key, with who deleted them and when.
   *
   * ```ts
   * await home.delete('plan', { expectedVersion: 1 })
   * for await (const { key, lastVersion } of home.deleted()) {
   *   await home.restore(key, lastVersion, { expectedVersion: 0 })
   * }
   * ```
   */
  deleted({
    prefix,
    after,
    limit,
    ...options
  }: DeletedOptions = {}): AsyncIterable<RestorableMemory> {
    return pages(
      (from: string | undefined, most) =>
        this.transport
          .ask<Listed<RestorableMemory>>({
            path: '/me/memories',
            query: { deleted: 'true', prefix, after: from, limit: most },
            ...options,
          })
          .then(pageOf),
      { start: after, limit },
    )
  }

  /**
   * Memories that answer a question or contain any of its words, best match first. A phrase in
   * "double quotes" must occur as it is. A question has at most 16384 bytes of UTF-8.
   *
   * ```ts
   * for await (const { key, text, snippet } of home.search('Which step comes first?')) {
   *   console.log(key, text ?? snippet)
   *   break
   * }
   * const meaning = { model: 'my-model', vector: [0.12, -0.48, 0.87] }
   * for await (const { key, similarity } of home.search('', { meaning, limit: 10 })) {
   *   console.log(key, similarity)
   * }
   * ```
   */
  search(
    question: string,
    { prefix, match, around, meaning, limit, ...options }: SearchOptions = {},
  ): Hits {
    const path = '/me/memories/search'
    let missing: readonly string[] = []
    const words = meaning && question === '' ? {} : { q: question }
    const meant = meaning && { model: meaning.model, vector: base64Of(meaning.vector) }
    const hits = pages(
      async (after: string | undefined, most) => {
        const sought = { ...words, match, around, prefix, after, limit: most }
        const sent = meant ? inBody({ ...sought, ...meant }) : sentFor(question, sought)
        const page = await this.transport.ask<Found>({ path, ...sent, ...options })
        missing = page.missing ?? missing
        return pageOf(page)
      },
      { limit },
    )
    return {
      [Symbol.asyncIterator]: () => hits,
      get missing() {
        return missing
      },
    }
  }

  /**
   * Stores what your model makes of texts, for `search` by `meaning`; any number, in as many
   * requests as they take. A vector belongs to its version: it is found until the text changes.
   *
   * ```ts
   * const { key, version } = await home.write('pier', 'By the harbour.', { expectedVersion: 0 })
   * const vector = [0.12, -0.48, 0.87]
   * const { stale } = await home.storeVectors('my-model', [{ key, version, vector }])
   * ```
   */
  async storeVectors(
    model: string,
    vectors: Iterable<NewVector>,
    options: CallOptions = {},
  ): Promise<VectorsStored> {
    let all: VectorsStored = { stored: 0, stale: [] }
    for (const some of requestsOf(vectors)) {
      const body = { model, vectors: some }
      const path = '/me/memories/vectors'
      all = added(all, await this.transport.ask({ method: 'POST', path, body, ...options }))
    }
    return all
  }

  /**
   * What happened in this home until now, oldest first. `after`: the id of the last that you saw.
   *
   * ```ts
   * for await (const { id, type, key } of home.events({ after: 0 })) console.log(id, type, key)
   * for await (const { key, by } of home.events({ order: 'newest', type: 'delete', limit: 10 })) {
   *   console.log(key, 'deleted by', by?.as)
   * }
   * ```
   */
  events({
    after,
    limit,
    order,
    since,
    key,
    prefix,
    type,
    by,
    run,
    ...options
  }: EventsOptions = {}): AsyncIterable<HomeEvent> {
    return pages(
      (from: number | undefined, most) =>
        this.transport
          .ask<{ readonly events: readonly HomeEvent[]; readonly next: number | null }>({
            path: '/me/events',
            query: { order, after: from, since, key, prefix, type, by, run, limit: most },
            ...options,
          })
          .then(({ events, next }) => ({ items: events, next })),
      { start: after, limit },
    )
  }

  /**
   * What happens in this home, as it happens, until you stop: a connection that breaks is opened
   * again where it was. `missed` tells that the log no longer held what came between.
   *
   * ```ts
   * for await (const event of home.watch({ after: 0 })) {
   *   if (event.type === 'missed') console.log('look at everything again')
   *   else console.log(event.type, event.key)
   *   break
   * }
   * ```
   */
  watch(options: WatchOptions = {}): AsyncIterable<HomeEvent | MissedEvents> {
    return watchEvents(this.transport, options)
  }

  /**
   * The newest event of this home and the hash of all events up to it, signed by the service.
   * Remember it: `check` tells later whether anything before it was changed.
   *
   * ```ts
   * const { head, statement } = await home.head()
   * console.log(head.id, head.hash, statement)
   * ```
   */
  head(options: CallOptions = {}): Promise<HeadResult> {
    return this.transport.askNow({ path: '/me/head', ...options })
  }

  /**
   * Recomputes event hashes since the last check (the head of `heads`, or `remembered`), and
   * remembers the newest. Throws HistoryChanged if the history differs, TurnedBack if the home is
   * older; `accept` accepts the home as it is.
   *
   * ```ts
   * const { head } = await home.check()
   * await home.append('log', 'one line\n')
   * const { events } = await home.check({ remembered: head })
   * console.log(events) // 1
   * ```
   */
  async check({ remembered, accept, ...options }: CheckOptions = {}): Promise<Checked> {
    const from = accept ? undefined : (remembered ?? (await this.heads?.load()))
    const checked = from
      ? await this.#checkFrom(from, options)
      : { head: (await this.head(options)).head, events: 0, since: undefined }
    await this.heads?.save({ id: checked.head.id, hash: checked.head.hash })
    return checked
  }

  async #checkFrom(remembered: Link, options: CallOptions): Promise<Checked> {
    let head = remembered
    let since: Link | undefined
    let events = 0
    for (let after: number | null = remembered.id; after !== null; ) {
      const page: ChainPage = await this.transport.askNow({
        path: '/me/events',
        query: { after, limit: CHECKED_AT_ONCE },
        ...options,
      })
      const { previous } = page
      if (!previous) throw new TypeError('a key with a prefix cannot check the chain')
      if (previous.id < head.id) throw new TurnedBack(head, previous)
      if (previous.id === head.id && previous.hash !== head.hash) {
        throw new HistoryChanged(head, previous)
      }
      // What came between is no longer in the log.
      if (!since || previous.id > head.id) since = previous
      head = previous
      for (const event of page.events) head = await follow(head, event)
      events += page.events.length
      after = page.next
    }
    return { head, events, since }
  }

  /**
   * Everything that is kept, as the bytes of one JSON file; with `history` what was, too. A stream
   * that ends well is whole: one that is cut off throws.
   *
   * ```ts
   * import { writeFile } from 'node:fs/promises'
   * await writeFile(`${directory}/home.json`, await home.export({ history: true }))
   * ```
   */
  export({
    history,
    ...options
  }: CallOptions & { readonly history?: boolean } = {}): Promise<ReadableStream<Uint8Array>> {
    const idleMs = options.timeout ?? EXPORT_IDLE_MS
    return this.transport.ask({
      path: '/me/export',
      query: { history },
      take: async (response, deadline) => streamIn(response, deadline, idleMs),
      ...options,
    })
  }
}

const EXPORT_IDLE_MS = 30_000
