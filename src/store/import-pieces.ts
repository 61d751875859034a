/** A source as it is written ahead: which version is its key's newest shows with the next one. */
import type { ImportSource, KeptVersion } from './port/transfer.ts'

export interface Arriving extends KeptVersion {
  /** The last of its key. */
  readonly isNewest: boolean
}

/** At least one, which may be empty. */
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
