/** The loop that loses no update: read, change, write, and on a conflict all of it again. */
import { backoff, wait } from './deadline.ts'
import { VersionConflict } from './errors.ts'
import type { WriteOptions } from './memories.ts'
import type { CallOptions } from './transport.ts'
import type { Memory, Metadata } from './wire.ts'

/** What a memory becomes: a text alone leaves the metadata as they are. */
export type Content = string | { readonly text: string; readonly metadata?: Metadata }

/**
 * Called again, with what is there by then, when somebody else was quicker. `undefined` leaves the
 * memory alone.
 */
export type Changing<Result = Content | undefined> = (
  current: Memory | undefined,
) => Result | Promise<Result>

/** Where it is done. */
interface Updated {
  read(key: string, options: CallOptions): Promise<Memory | undefined>
  write(key: string, text: string, options: WriteOptions): Promise<Memory>
}

/** Attempts of an update. More conflicts in a row mean that another writer never pauses. */
const MOST_CONFLICTS = 200

const CONFLICT_BACKOFF = { first: 10, most: 1_000 }

const contentOf = (content: Content): { text: string; metadata?: Metadata } =>
  typeof content === 'string' ? { text: content } : content

const changesNothing = ({ text, metadata }: ReturnType<typeof contentOf>, current?: Memory) =>
  text === current?.text &&
  (metadata === undefined || JSON.stringify(metadata) === JSON.stringify(current.metadata))

export async function update(
  home: Updated,
  key: string,
  change: Changing,
  options: CallOptions,
): Promise<Memory | undefined> {
  for (let conflicts = 0; ; conflicts++) {
    const current = await home.read(key, options)
    const changed = await change(current)
    if (changed === undefined) return current
    const content = contentOf(changed)
    if (changesNothing(content, current)) return current
    const { text, metadata } = content
    const expectedVersion = current?.version ?? 0
    try {
      return await home.write(key, text, { ...options, metadata, expectedVersion })
    } catch (error) {
      if (!(error instanceof VersionConflict) || conflicts === MOST_CONFLICTS) throw error
      await wait(backoff(conflicts, CONFLICT_BACKOFF), options.signal)
    }
  }
}
