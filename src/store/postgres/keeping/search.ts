/** Searches, beside everything else that the process does: in slices, with turns in between. */
import { setImmediate as turn } from 'node:timers/promises'
import type { MemoryStore } from '../../port/keeping/memories.ts'
import type { SearchStore } from '../../port/keeping/search.ts'
import { searchThrough } from '../../search/look.ts'

export const searchWith =
  ({
    listMemories,
    readMemory,
  }: Pick<MemoryStore, 'listMemories' | 'readMemory'>): SearchStore['searchMemories'] =>
  (identity, query) =>
    searchThrough(
      {
        async list(slice) {
          await turn()
          return listMemories(identity, slice)
        },
        read: (key) => readMemory(identity, key),
        stopwatch: () => performance.now(),
      },
      query,
    )
