/** Sends searches to their own thread, so that they delay nobody. */
import type { Timers } from '../../timers.ts'
import { StoreUnavailable } from '../port/errors.ts'
import type { SearchAnswer, SearchStore } from '../port/search.ts'
import { keepThread, type ThreadFile } from '../thread.ts'
import type { SearchMessage, SearchReply } from './answering.ts'

/** An idle thread is replaced, which frees its indexes. */
const IDLE_MS = 600_000

const noAnswer = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('the search does not answer', { cause })

export interface Searcher {
  readonly search: SearchStore['searchMemories']
  readonly prepare: () => void
  /** Resolves when no index of this process contains a text of the agent. */
  readonly forget: (agentId: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The thread starts with the first search, unless it was prepared. */
export function startSearcher(file: ThreadFile, { after }: Timers): Searcher {
  const asked = new Map<number, PromiseWithResolvers<SearchAnswer | undefined>>()
  let messages = 0
  let cancelRenewal = () => {}

  function settle({ id, answer, error, unavailable }: SearchReply): void {
    const waiting = asked.get(id)
    asked.delete(id)
    if (error === undefined) waiting?.resolve(answer)
    else waiting?.reject(unavailable ? noAnswer(error) : error)
    if (asked.size === 0) cancelRenewal = after(IDLE_MS, thread.renew)
  }

  const thread = keepThread<SearchMessage | null, SearchReply>(file, {
    answered: settle,
    ended(cause) {
      for (const { reject } of asked.values()) reject(noAnswer(cause))
      asked.clear()
    },
  })

  function send(message: Omit<SearchMessage, 'id'>): Promise<SearchAnswer | undefined> {
    cancelRenewal()
    const id = ++messages
    thread.post({ ...message, id })
    const waiting = Promise.withResolvers<SearchAnswer | undefined>()
    asked.set(id, waiting)
    return waiting.promise
  }

  return {
    async search(identity, query) {
      const answer = await send({ search: { identity, query } })
      if (!answer) throw noAnswer(undefined)
      return answer
    },
    prepare: thread.start,
    async forget(agentId) {
      // A thread that ends takes its indexes along.
      if (thread.isRunning()) await send({ forget: agentId }).catch(() => {})
    },
    async close() {
      cancelRenewal()
      await thread.close()
    },
  }
}
