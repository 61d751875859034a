/** Searches, beside everything else that the process does: in slices, with turns in between. */
import { setImmediate as turn } from 'node:timers/promises'
import type { MemoryStore } from '../../port/keeping/memories.ts'
import { searchThrough } from '../../search/look.ts'
import { type Search, takingTurns } from '../../search/queue.ts'

export const searchWith = ({
  listMemories,
  readMemory,
}: Pick<MemoryStore, 'listMemories' | 'readMemory'>): Search =>
  takingTurns((identity, query) =>
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
    ),
  )
