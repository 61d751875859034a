/** The thread that searches, on a reading connection of its own; searches take turns by slices. */
import { setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailable } from '../../port/errors.ts'
import type { Identity } from '../../port/home.ts'
import type { SearchAnswer, SearchQuery } from '../../port/keeping/search.ts'
import { searchThrough } from '../../search/look.ts'
import { prepareIdentify } from '../identities.ts'
import { prepareReadMemory } from '../keeping/memories.ts'
import { prepareTexts } from '../keeping/texts.ts'
import { mapped, openReader, translate } from './connection.ts'

/** Asks for a search; null asks the thread to close its connection and end. */
export type SearchMessage = {
  readonly id: number
  readonly identity: Identity
  readonly query: SearchQuery
} | null

export interface SearchReply {
  readonly id: number
  readonly answer?: SearchAnswer
  readonly error?: unknown
  /** The storage does not answer, or not in time: an error's own class does not cross. */
  readonly unavailable?: boolean
}

const port = parentPort
if (!port) throw new Error('this module runs as a thread')

const db = mapped(openReader(workerData as string))
const { refuse } = prepareIdentify(db)
const texts = prepareTexts(db, refuse)
const read = prepareReadMemory(db, refuse)

const search = (identity: Identity, query: SearchQuery): Promise<SearchAnswer> =>
  searchThrough(
    {
      async list(slice) {
        await turn()
        return texts(identity, slice)
      },
      read: async (key) => read(identity, key),
      stopwatch: () => performance.now(),
    },
    query,
  )

port.on('message', (message: SearchMessage) => {
  if (!message) {
    db.close()
    port.close()
    return
  }
  const { id, identity, query } = message
  const say = (reply: Omit<SearchReply, 'id'>) => port.postMessage({ id, ...reply })
  search(identity, query).then(
    (answer) => say({ answer }),
    (error: unknown) => say({ error, unavailable: translate(error) instanceof StoreUnavailable }),
  )
})
