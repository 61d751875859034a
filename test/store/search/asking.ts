/** Questions to an index of some memories. */
import { HomeIndex, type IndexedMemory } from '../../../src/store/search/home-index.ts'
import { rank } from '../../../src/store/search/rank.ts'

export type Kept = Partial<IndexedMemory>

export const kept = ({
  key = 'note',
  text = 'nothing',
  metadata = '{}',
  createdAt = 0,
  updatedAt = 0,
}: Kept) => ({
  version: 1,
  ...{ key, text, metadata, createdAt, updatedAt },
})

export interface Asked {
  readonly all?: boolean
}

export async function ask(q: string, memories: readonly Kept[], { all = false }: Asked = {}) {
  const index = new HomeIndex()
  for (const memory of memories) index.put(kept(memory))
  const ranking = await rank(index, { q, all, isWanted: () => true }, async () => {})
  const found = ranking.docs.map(({ id, key }) => ({
    key,
    matched: ranking.termsIn(id),
  }))
  return found
}

export const keysOf = async (...asked: Parameters<typeof ask>) =>
  (await ask(...asked)).map(({ key }) => key)
