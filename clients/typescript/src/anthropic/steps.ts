/** What is asked of the home at once: as much as fits into one batch, what belongs together in one. */
import type { Operation } from '../wire.ts'

const MOST_OPERATIONS = 100

/** Of the home's 1 MiB, with room for what stands around the operations. */
const MOST_BYTES = 1_000_000

const bytesOf = (operations: readonly Operation[]): number =>
  new TextEncoder().encode(JSON.stringify(operations)).length

/** Each group goes whole into a batch: all of it is done, or none. */
export function batchesOf(groups: readonly (readonly Operation[])[]): Operation[][] {
  const batches: Operation[][] = []
  let bytes = 0
  for (const group of groups) {
    const last = batches.at(-1)
    const size = bytesOf(group)
    if (last && last.length + group.length <= MOST_OPERATIONS && bytes + size <= MOST_BYTES) {
      last.push(...group)
      bytes += size
    } else {
      batches.push([...group])
      bytes = size
    }
  }
  return batches
}
