/** What an agent does with its memories, one by one and several at once. */
import { about } from './about.ts'
import type { HomeError } from './errors.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { pages } from './pages.ts'
import { type LostSave, settleDelete, settleSave } from './settle.ts'
import { type CallOptions, settings, Transport, type TransportOptions } from './transport.ts'
import { type Changing, type Content, update } from './update.ts'
import type { DeletedMemory, Link, Memory, Metadata, Version } from './wire.ts'

export interface AgentHomeOptions extends TransportOptions {
  /** The agent's, the operator's, or that of a named key; AGENT_HOME_TOKEN unless told. */
  readonly token?: string | undefined
  /**
   * What this run of your program is called, at most 80 characters: kept with what it writes, as
   * `by.run`. AGENT_HOME_RUN unless told.
   */
  readonly run?: string | undefined
  /** Where the last head of this home is remembered: with it, the first call checks it. */
  readonly heads?: Heads | undefined
}

/** Keep it beside the token: what is remembered elsewhere cannot be changed with the home. */
export interface Heads {
  /** What was saved last. */
  readonly load: () => Link | undefined | Promise<Link | undefined>
  readonly save: (head: Link) => void | Promise<void>
}

/** Which version a change is made of: 0 where nothing is. */
export interface ChangeOptions extends CallOptions {
  readonly expectedVersion: number
}

export interface WriteOptions extends ChangeOptions {
  /** What is there stays if it is not given; `{}` removes it. */
  readonly metadata?: Metadata | undefined
}

export interface AppendOptions extends CallOptions {
  /** Without it the text is added to whatever is there. */
  readonly expectedVersion?: number | undefined
  /** Puts a line end between what is there and the text, unless there is one. */
  readonly line?: boolean | undefined
  /** 64 lower-case hex digits; new ones unless told. */
  readonly idempotencyKey?: string | undefined
}

interface Saved {
  readonly memory: Memory
}

/** What is sent of a change that leaves a memory. */
interface Save extends Pick<LostSave, 'isOurs'> {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  /** With an Idempotency-Key it can be repeated. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: {
    readonly key: string
    readonly expectedVersion?: number | undefined
    readonly [member: string]: unknown
  }
}

const MEMORY = '/me/memory'

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const sameContent = (a: Pick<Memory, 'text' | 'metadata'>, b: Pick<Memory, 'text' | 'metadata'>) =>
  a.text === b.text && same(a.metadata, b.metadata)

export class Memories {
  protected readonly transport: Transport
  protected readonly heads: Heads | undefined

  /** Throws TypeError if the address or the token is missing or malformed. */
  constructor({
    token = settings().AGENT_HOME_TOKEN,
    run = settings().AGENT_HOME_RUN,
    heads,
    ...options
  }: AgentHomeOptions = {}) {
    if (!token) throw new TypeError('token is missing: pass it, or set AGENT_HOME_TOKEN')
    this.heads = heads
    this.transport = new Transport(options, token, run)
  }

  /**
   * The memory under a key, or undefined where nothing is. With `version`, as it was then: throws
   * HomeError `version_not_found` or, where it is no longer kept, `version_gone`.
   *
   * ```ts
   * const plan = await home.read('plan')
   * console.log(plan?.text, plan?.version)
   * const first = await home.read('plan', { version: 1 })
   * console.log(first?.text)
   * ```
   */
  async read(
    key: string,
    { version, ...options }: CallOptions & { readonly version?: number } = {},
  ): Promise<Memory | undefined> {
    const found = await this.transport
      .ask<Saved>({ path: MEMORY, query: { key, version }, ...options })
      .catch((error: HomeError) => {
        if (error.code === 'memory_not_found') return undefined
        throw error
      })
    return found && about(key, found.memory)
  }

  /**
   * Creates a memory, or replaces its text; metadata that is not given stays. Throws VersionConflict
   * if another version is there than was expected. If the answer is lost, it is found out whether
   * the write was made.
   *
   * ```ts
   * const note = await home.write('note', 'Two doors, one key.', { expectedVersion: 0 })
   * await home.write('note', 'One door.', { expectedVersion: note.version, metadata: { run: 2 } })
   * ```
   */
  write(key: string, text: string, options: WriteOptions): Promise<Memory> {
    const { metadata = {}, expectedVersion, ...call } = options
    if (options.metadata === undefined && expectedVersion > 0) {
      return this.patch(key, { text }, { expectedVersion, ...call })
    }
    return this.#save(
      {
        method: 'POST',
        path: MEMORY,
        body: { key, text, metadata, expectedVersion },
        isOurs: (found) => sameContent(found, { text, metadata }),
      },
      call,
    )
  }

  /**
   * Reads, lets you change, writes, and begins again when somebody else wrote in between: no update
   * of anybody is lost, however many run at once. Where nothing is, `current` is undefined.
   *
   * Nothing is written if `change` returns `undefined`, or the text that is there. What is the same
   * text made of the same version by two at once counts as one of them, should an answer be lost:
   * put something of its own into what must be counted.
   *
   * ```ts
   * await home.update('plan', (current) => `${current?.text ?? ''}\nStep 2 of 3`)
   * await home.update('count', (current) => String(Number(current?.text ?? 0) + 1))
   * ```
   */
  update(key: string, change: Changing<Content>, options?: CallOptions): Promise<Memory>
  update(key: string, change: Changing, options?: CallOptions): Promise<Memory | undefined>
  update(key: string, change: Changing, options: CallOptions = {}): Promise<Memory | undefined> {
    return update(this, key, change, options)
  }

  /**
   * Adds text to the end of a memory, or creates it. Without `expectedVersion` it is added to
   * whatever is there. If the answer is lost it is sent again with the same Idempotency-Key, and made
   * once; a home before 2.1 knows no such key, and a lost answer is OutcomeUnknown. With an
   * `idempotencyKey` of your own, of `newIdempotencyKey`, a later call is the same append for a day;
   * its `text` is empty if that version is no longer kept under the key. With `line` it begins a line
   * of its own. A memory that is full is HomeError `text_too_large`: `details.nextKey` is a key to go
   * on under.
   *
   * ```ts
   * await home.append('log', 'Woke up.', { line: true })
   * const log = await home.append('log', 'Read the plan.', { line: true })
   * await home.append('log', ' Done.', { expectedVersion: log.version })
   * ```
   */
  append(
    key: string,
    text: string,
    { expectedVersion, line, idempotencyKey = newIdempotencyKey(), ...options }: AppendOptions = {},
  ): Promise<Memory> {
    const body = { key, text, expectedVersion, line }
    const isOurs = (found: Memory) => found.text.endsWith(text)
    const headers = { 'idempotency-key': idempotencyKey }
    return this.#save({ method: 'POST', path: `${MEMORY}/append`, body, headers, isOurs }, options)
  }

  /**
   * Replaces a passage that is in the text exactly once; the rest stays. Throws HomeError
   * `edit_not_found` or `edit_ambiguous` otherwise, `details.occurrences` says how often it is
   * there. Without `expectedVersion` the current version is edited, and a lost answer is
   * OutcomeUnknown.
   *
   * ```ts
   * await home.write('steps', 'Step 3 of 7.', { expectedVersion: 0 })
   * const steps = await home.edit('steps', 'Step 3', 'Step 4')
   * console.log(steps.text) // Step 4 of 7.
   * ```
   */
  edit(
    key: string,
    old: string,
    replacement: string,
    { expectedVersion, ...options }: CallOptions & { readonly expectedVersion?: number } = {},
  ): Promise<Memory> {
    const body = { key, old, new: replacement, expectedVersion }
    const isOurs = async (found: Memory) => {
      const before = await this.read(key, { ...options, version: found.version - 1 })
      return before?.text.replace(old, () => replacement) === found.text
    }
    return this.#save({ method: 'POST', path: `${MEMORY}/edit`, body, isOurs }, options)
  }

  /**
   * Changes the text or the metadata; what is left out stays.
   *
   * ```ts
   * await home.patch('plan', { metadata: { pinned: true } }, { expectedVersion: 1 })
   * ```
   */
  patch(
    key: string,
    change: { readonly text?: string; readonly metadata?: Metadata },
    { expectedVersion, ...options }: ChangeOptions,
  ): Promise<Memory> {
    const body = { key, expectedVersion, ...change }
    const isOurs = (found: Memory) => sameContent(found, { ...found, ...change })
    return this.#save({ method: 'PATCH', path: MEMORY, body, isOurs }, options)
  }

  /**
   * Brings back an earlier version as a new one, or with `expectedVersion: 0` what was deleted.
   *
   * ```ts
   * const { version } = await home.delete('plan', { expectedVersion: 1 })
   * const plan = await home.restore('plan', version - 1, { expectedVersion: 0 })
   * ```
   */
  restore(
    key: string,
    version: number,
    { expectedVersion, ...options }: ChangeOptions,
  ): Promise<Memory> {
    const body = { key, version, expectedVersion }
    const isOurs = async (found: Memory) => {
      const restored = await this.read(key, { ...options, version })
      return restored !== undefined && sameContent(found, restored)
    }
    return this.#save({ method: 'POST', path: `${MEMORY}/restore`, body, isOurs }, options)
  }

  /**
   * Deletes a memory. Its versions are kept, and `restore` brings it back. Throws HomeError
   * `memory_not_found` where nothing is.
   *
   * ```ts
   * const { version, deletedAt } = await home.delete('plan', { expectedVersion: 1 })
   * ```
   */
  async delete(
    key: string,
    { expectedVersion, ...options }: ChangeOptions,
  ): Promise<DeletedMemory> {
    const { deleted } = await this.transport.ask<{ readonly deleted: DeletedMemory }>({
      method: 'DELETE',
      path: MEMORY,
      query: { key, expectedVersion },
      settle: () => settleDelete(this, { key, expectedVersion, options }),
      ...options,
    })
    return about(key, deleted)
  }

  /**
   * The versions that are kept, newest first.
   *
   * ```ts
   * for await (const { version, operation, by } of home.versions('plan')) {
   *   console.log(version, operation, by?.as)
   * }
   * ```
   */
  versions(key: string, options: CallOptions = {}): AsyncIterable<Version> {
    return pages((before: number | undefined, most) =>
      this.transport
        .ask<{ readonly versions: readonly Version[]; readonly next: number | null }>({
          path: `${MEMORY}/versions`,
          query: { key, before, limit: most },
          ...options,
        })
        .then(({ versions, next }) => ({ items: versions, next })),
    )
  }

  async #save(
    { method, path, headers, body, isOurs }: Save,
    options: CallOptions,
  ): Promise<Memory> {
    const { key, expectedVersion = 0 } = body
    const { memory } = await this.transport.ask<Saved>({
      method,
      path,
      body,
      ...(headers && { headers, keyed: true }),
      once: body.expectedVersion === undefined,
      settle: (refusal) => settleSave(this, { key, expectedVersion, isOurs, options }, refusal),
      ...options,
    })
    const found = about(key, memory)
    return found.text === undefined ? { ...found, ...LEFT_OUT } : found
  }
}

/** Of an append that was answered before, and whose version is no longer kept under the key. */
const LEFT_OUT = { text: '', metadata: {} }
