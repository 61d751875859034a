/** Several changes at once: all of them or none. */
import { aboutAll } from './about.ts'
import { type ChangeOptions, Memories } from './memories.ts'
import type { CallOptions } from './transport.ts'
import type { BatchReceipt, BatchResult, Expecting, Memory, Operation } from './wire.ts'

export interface BatchOptions extends CallOptions {
  /** What is saved comes without its text and metadata. */
  readonly minimal?: boolean
}

const MINIMAL = { headers: { Prefer: 'return=minimal' } }

export class Batches extends Memories {
  /**
   * Several operations at once: all of them or, with BatchConflict, none. At most 100, and 1 MiB of
   * texts and metadata in the answer, for which `minimal` makes room.
   *
   * Where an answer was lost and the batch cannot be found done, throws OutcomeUnknown: a read or a
   * rename in it leaves no version of its own to look for. It was made whole or not at all, so one
   * memory of it tells of all: read one that it writes at `expectedVersion + 1`, and send the batch
   * again if what it would have written is not there.
   *
   * ```ts
   * const [written] = await home.batch([
   *   { write: { key: 'done', text: 'Step 1', expectedVersion: 0 } },
   *   { patch: { key: 'plan', text: 'Step 2 of 3', expectedVersion: 1 } },
   * ])
   * ```
   */
  async batch(
    operations: readonly Operation[],
    options: BatchOptions & { readonly minimal: true },
  ): Promise<readonly BatchReceipt[]>
  async batch(
    operations: readonly Operation[],
    options?: CallOptions,
  ): Promise<readonly BatchResult[]>
  async batch(
    operations: readonly Operation[],
    { minimal, ...options }: BatchOptions = {},
  ): Promise<readonly BatchReceipt[]> {
    const relative = operations.flatMap((each): Expecting[] => {
      if ('append' in each) return [each.append]
      return 'edit' in each ? [each.edit] : []
    })
    const { results } = await this.transport.ask<{ readonly results: readonly BatchReceipt[] }>({
      method: 'POST',
      path: '/me/batch',
      body: { operations },
      reads: operations.every((each) => 'read' in each),
      once: relative.some(({ expectedVersion }) => expectedVersion === undefined),
      ...(minimal && MINIMAL),
      ...options,
    })
    return aboutAll(operations, results)
  }

  /**
   * Gives a memory another key; its id and history go along. Throws BatchConflict, and
   * OutcomeUnknown after a lost answer: it was done if there is a memory at `to` and none at `from`.
   *
   * ```ts
   * const moved = await home.rename('plan', 'plan.old', { expectedVersion: 1 })
   * ```
   */
  async rename(
    from: string,
    to: string,
    { expectedVersion, ...options }: ChangeOptions,
  ): Promise<Memory> {
    const [result] = await this.batch([{ rename: { from, to, expectedVersion } }], options)
    if (result && 'memory' in result && result.memory) return result.memory
    throw new TypeError('a rename was answered by something else')
  }
}
