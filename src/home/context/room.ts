/** Room in an answer of so many bytes: what is put there is whole, or is left out. */
import type { MemorySummary } from '../../store/port/keeping/memories.ts'
import { summaryJson } from '../memories/summary.ts'

export interface Room {
  /** UTF-8 bytes. */
  readonly left: () => number
  /** Takes what an item of a list needs, and leaves so many bytes. False: nothing is taken. */
  readonly take: (item: string, keep?: number) => boolean
}

const SEPARATOR_BYTES = 1

/** Of a list, which an item takes. */
export const bytesIn = (item: string): number => Buffer.byteLength(item) + SEPARATOR_BYTES

export function roomOf(bytes: number): Room {
  let left = bytes
  return {
    left: () => left,
    take(item, keep = 0) {
      const size = bytesIn(item)
      if (size > left - keep) return false
      left -= size
      return true
    },
  }
}

/** The least that a memory needs as JSON: escapes only add to it. */
const leastOf = ({ bytes, metadata, key }: MemorySummary): number =>
  bytes + Buffer.byteLength(metadata) + key.length

/**
 * Those next in order that are to be read, as they may all fit, and the rest. What cannot fit any
 * more is in neither.
 */
export function nextToRead(
  memories: readonly MemorySummary[],
  left: number,
): { readonly batch: readonly MemorySummary[]; readonly rest: readonly MemorySummary[] } {
  const fitting = memories.filter((memory) => leastOf(memory) <= left)
  let size = 0
  const end = fitting.findIndex((memory) => {
    size += leastOf(memory)
    return size > left
  })
  return end < 0
    ? { batch: fitting, rest: [] }
    : { batch: fitting.slice(0, end), rest: fitting.slice(end) }
}

/** What the smallest summary takes: one with the shortest key, and with nothing in its metadata. */
export const LEAST_SUMMARY = summaryJson({
  ...{ id: '00000000-0000-0000-0000-000000000000', key: 'k', bytes: 1, metadata: '{}' },
  ...{ version: 1, createdAt: 0, updatedAt: 0 },
}).length
