/** Searches over a store's own verbs, in this thread. */
import type { Identity } from '../../../src/store/port/identity.ts'
import type { SearchQuery } from '../../../src/store/port/search.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { searchWith } from '../../../src/store/search/answering.ts'
import { Indexes, type SearchSource } from '../../../src/store/search/indexes.ts'

const turn = async () => {}

/** `slice`: how many memories it gives at once. */
export const sourceOf = (store: Store, slice = 2): SearchSource => ({
  eventsAfter: (...after) => store.eventsAfter(...after),
  readMemory: (...key) => store.readMemory(...key),
  // Nobody of these tests searches by vector.
  vectorsAfter: async () => ({ outcome: 'vectors', vectors: [], last: 0, isEnd: true }),
  async readSlice(identity, prefix, after) {
    const bounds = { limit: slice, maxBytes: 1_048_576, whole: true }
    const found = await store.listMemories(identity, { prefix, order: 'key', after, ...bounds })
    if (found.outcome !== 'memories') return found
    const memories = found.memories.map(({ text = '', ...memory }) => ({ ...memory, text }))
    return { outcome: 'memories', memories, next: found.next }
  },
})

export function openIndexes(source: SearchSource, maxBytes = 128 * 1_048_576) {
  const indexes = new Indexes(source, maxBytes, turn)
  return {
    search: searchWith(source, indexes, turn),
    forget: (agentId: string) => indexes.forget(agentId),
    close: () => indexes.close(),
  }
}

/** With an index that is built for it. */
export async function searchAnew(store: Store, identity: Identity, query: SearchQuery) {
  const indexes = openIndexes(sourceOf(store))
  const answer = await indexes.search(identity, query)
  indexes.close()
  return answer
}
