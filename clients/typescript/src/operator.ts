/** What an agent's operator does: stops it, corrects it, brings what it left with, erases. */
import { about } from './about.ts'
import { Keys } from './keys.ts'
import type { CallOptions } from './transport.ts'
import type { Imported, ProfileChange, ProfileResult, Protection, RolledBack } from './wire.ts'

export interface Erased {
  readonly key: string
  readonly versions: readonly number[]
}

export interface ImportOptions extends CallOptions {
  /** What to do if a key already has a memory: import nothing, keep the memory, or write its next version. */
  readonly onConflict?: 'fail' | 'skip' | 'replace'
  /** Report what would be imported, without changing anything. */
  readonly dryRun?: boolean
}

export interface RollbackOptions extends CallOptions {
  /** The id of an event: memories become as they were right after it. */
  readonly to: number
  /** Only memories whose keys began so. */
  readonly prefix?: string
  /** Only memories that the agent’s own token, the operator or the named key with this id changed. */
  readonly by?: 'agent' | 'operator' | (string & {})
  /** Only memories that the run that was called so has changed; with `by`, both must fit. */
  readonly run?: string
  /** Report what would be, without changing anything. */
  readonly dryRun?: boolean
}

/** An import may take long, and its answer comes at the end. */
const IMPORT_MS = 3_600_000

export class Operator extends Keys {
  /**
   * The operator's: all of an export or nothing. Throws ImportConflict. A stream can be sent only
   * once, so that nothing of it is repeated; a text or a Blob is sent again where that is safe.
   * Readers may see a part of a long import while it runs; one that fails is taken back.
   *
   * ```ts
   * const kept = await home.export()
   * const { imported, skipped } = await operator.import(kept, { onConflict: 'skip' })
   * ```
   */
  import(
    source: ReadableStream<Uint8Array> | Blob | string,
    { onConflict, dryRun, ...options }: ImportOptions = {},
  ): Promise<Imported> {
    return this.transport.ask({
      method: 'POST',
      path: '/me/import',
      query: { onConflict, dryRun },
      upload: source,
      reads: dryRun,
      spent: source instanceof ReadableStream,
      once: !dryRun,
      ...options,
      timeout: options.timeout ?? IMPORT_MS,
    })
  }

  /**
   * The operator's: all memories, or some of them, as they were right after an event, as new
   * versions. Throws HomeError `event_not_found` and `event_gone`.
   *
   * ```ts
   * for await (const last of home.events({ by: 'agent', order: 'newest', limit: 1 })) {
   *   const { restored, deleted } = await operator.rollBack({ to: last.id - 1 })
   *   console.log(restored, deleted)
   * }
   * ```
   */
  rollBack({ to, prefix, by, run, dryRun, ...options }: RollbackOptions): Promise<RolledBack> {
    return this.transport.ask({
      method: 'POST',
      path: '/me/rollback',
      body: { to, prefix, by, run, dryRun },
      reads: dryRun,
      ...options,
      timeout: options.timeout ?? IMPORT_MS,
    })
  }

  /**
   * The operator's: the agent's token does nothing until it is active again.
   *
   * ```ts
   * await operator.pause()
   * const { profile } = await operator.activate()
   * ```
   */
  pause(options: CallOptions = {}): Promise<ProfileResult> {
    return this.#setStatus('paused', options)
  }

  /**
   * The operator's: ends a pause.
   *
   * ```ts
   * const { profile } = await operator.activate()
   * console.log(profile.status)
   * ```
   */
  activate(options: CallOptions = {}): Promise<ProfileResult> {
    return this.#setStatus('active', options)
  }

  /**
   * The operator's: what is left out stays.
   *
   * ```ts
   * const { profile } = await operator.changeProfile({ name: 'Atlas the second' })
   * ```
   */
  changeProfile(change: ProfileChange, options: CallOptions = {}): Promise<ProfileResult> {
    return this.transport.ask({ method: 'PATCH', path: '/me/profile', body: change, ...options })
  }

  /**
   * The operator's: the agent and its named keys read the memory and change nothing of it, until it
   * is unprotected or deleted.
   *
   * ```ts
   * await operator.protect('plan')
   * await operator.unprotect('plan')
   * ```
   */
  protect(key: string, options: CallOptions = {}): Promise<Protection> {
    return this.#setProtected(key, true, options)
  }

  /**
   * The operator's: ends a protection.
   *
   * ```ts
   * const { version } = await operator.unprotect('plan')
   * ```
   */
  unprotect(key: string, options: CallOptions = {}): Promise<Protection> {
    return this.#setProtected(key, false, options)
  }

  /**
   * The operator's, and for good: the whole memory (`all`), what it was before (`history`), or some
   * of its versions. If an answer was lost, `versions` may omit earlier ones.
   *
   * ```ts
   * await home.write('plan', 'Step 2 of 3', { expectedVersion: 1 })
   * const { versions } = await operator.erase('plan', [1])
   * await operator.erase('plan', 'all')
   * ```
   */
  async erase(
    key: string,
    versions: 'all' | 'history' | readonly number[],
    options: CallOptions = {},
  ): Promise<Erased> {
    const { erased } = await this.transport.ask<{ readonly erased: Erased }>({
      method: 'POST',
      path: '/me/memory/erase',
      body: { key, versions },
      settle: async ({ code }) =>
        code === 'memory_not_found' ? { made: { erased: { key, versions: [] } } } : 'unknown',
      ...options,
    })
    return about(key, erased)
  }

  /**
   * The operator's, and for good: the agent with everything that it has. Its id, lest it be another.
   *
   * ```ts
   * const { profile } = await operator.profile()
   * await operator.eraseAgent(profile.agent_id)
   * ```
   */
  async eraseAgent(agentId: string, options: CallOptions = {}): Promise<void> {
    await this.transport.ask<unknown>({
      method: 'POST',
      path: '/me/erase',
      body: { agent_id: agentId },
      settle: async ({ status }) => (status === 401 ? { made: undefined } : 'unknown'),
      ...options,
    })
  }

  async #setProtected(
    key: string,
    isProtected: boolean,
    options: CallOptions,
  ): Promise<Protection> {
    const { memory } = await this.transport.ask<{ readonly memory: Protection }>({
      method: 'POST',
      path: '/me/memory/protect',
      body: { key, protected: isProtected },
      ...options,
    })
    return about(key, memory)
  }

  #setStatus(status: 'active' | 'paused', options: CallOptions): Promise<ProfileResult> {
    return this.transport.ask({ method: 'PATCH', path: '/me', body: { status }, ...options })
  }
}
