/** The search thread, with a reading connection of its own. */
import { workerData } from 'node:worker_threads'
import { answerSearches } from '../search/answering.ts'
import { vectorReads } from '../verbs/kept-vectors.ts'
import { mapped, openReader, translate } from './engine/connection.ts'
import { prepareVerbs } from './engine/run.ts'
import { prepareIdentify } from './identities.ts'
import { prepareEvents } from './memories/event-reads.ts'
import { prepareReadMemory } from './memories/reads.ts'
import { prepareSlices } from './memories/slices.ts'

export interface SearchThreadData {
  readonly path: string
  readonly cacheBytes: number
}

const { path, cacheBytes } = workerData as SearchThreadData
const db = mapped(openReader(path))
const { refuse } = prepareIdentify(db)
const eventsAfter = prepareEvents(db, refuse)
const readMemory = prepareReadMemory(db, refuse)
const readSlice = prepareSlices(db, refuse)
const { vectorsAfter } = prepareVerbs(db, vectorReads)

answerSearches({
  source: {
    eventsAfter: async (...after) => eventsAfter(...after),
    readMemory: async (...key) => readMemory(...key),
    readSlice: async (...slice) => readSlice(...slice),
    vectorsAfter: async (...after) => vectorsAfter(...after),
  },
  cacheBytes,
  translate,
  close: () => db.close(),
})
