/**
 * Splits a source into pieces to stage. Whether a version is its key's newest is known once the
 * next one has arrived.
 */
import type { ImportSource, KeptVersion } from './port/transfer.ts'

export interface Arriving extends KeptVersion {
  /** Whether it is the last version of its key. */
  readonly isNewest: boolean
}

/** At least one piece, possibly empty. */
export async function* piecesOf(source: ImportSource): AsyncGenerator<readonly Arriving[]> {
  let held: KeptVersion | undefined
  for await (const versions of source) {
    const all = held ? [held, ...versions] : versions
    held = all.at(-1)
    const isNewest = (at: number) => all[at]?.key !== all[at + 1]?.key
    const whole = all.slice(0, -1).map((each, at) => ({ ...each, isNewest: isNewest(at) }))
    if (whole.length > 0) yield whole
  }
  yield held ? [{ ...held, isNewest: true }] : []
}
