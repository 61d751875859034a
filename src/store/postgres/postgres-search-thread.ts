/** The search thread, with connections of its own. */
import { workerData } from 'node:worker_threads'
import { processTimers } from '../../timers.ts'
import { answerSearches } from '../search/answering.ts'
import { SLICE } from '../search/indexes.ts'
import { vectorReads } from '../verbs/kept-vectors.ts'
import { openConnections } from './engine/connections.ts'
import { hostsOf } from './engine/hosts.ts'
import { readVerbs } from './engine/run.ts'
import { eventReader } from './memories/event-reads.ts'
import { memoryReads } from './memories/reads.ts'

export interface SearchThreadData {
  readonly databaseUrl: string
  readonly cacheBytes: number
  readonly sharded: boolean
}

/** Connections per node: texts are read in slices, one search at a time. */
const CONNECTIONS = 2

const { databaseUrl, cacheBytes, sharded } = workerData as SearchThreadData
const connections = openConnections(hostsOf(databaseUrl), CONNECTIONS, 'agent-home search', {
  timers: processTimers,
})
const { listMemories, readMemory } = memoryReads(connections, sharded)

answerSearches({
  source: {
    eventsAfter: eventReader(connections.read),
    readMemory,
    ...readVerbs(connections, vectorReads),
    async readSlice(identity, prefix, after) {
      const bounds = { limit: SLICE.memories, maxBytes: SLICE.bytes, whole: true }
      const found = await listMemories(identity, { prefix, order: 'key', after, ...bounds })
      if (found.outcome !== 'memories') return found
      const memories = found.memories.map(({ text = '', ...memory }) => ({ ...memory, text }))
      return { outcome: 'memories', memories, next: found.next }
    },
  },
  cacheBytes,
  translate: (error) => error,
  close: () => connections.close(),
})
