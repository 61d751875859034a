/** Several changes at once: all of them or none. */
import { type ChangeOptions, Memories } from './memories.ts'
import type { CallOptions } from './transport.ts'
import type { BatchResult, Memory, Operation } from './wire.ts'

export class Batches extends Memories {
  /**
   * Several operations at once: all of them or, with BatchConflict, none. At most 100.
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
    options: CallOptions = {},
  ): Promise<readonly BatchResult[]> {
    const appends = operations.flatMap((each) => ('append' in each ? [each.append] : []))
    const { results } = await this.transport.ask<{ readonly results: readonly BatchResult[] }>({
      method: 'POST',
      path: '/me/batch',
      body: { operations },
      once: appends.some(({ expectedVersion }) => expectedVersion === undefined),
      ...options,
    })
    return results
  }

  /**
   * Gives a memory another key; its id and history go along. Throws BatchConflict.
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
