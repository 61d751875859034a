/** Searches on their way to a thread of their own, so that they hold nobody back. */
import { StoreUnavailable } from '../../port/errors.ts'
import type { SearchAnswer, SearchStore } from '../../port/keeping/search.ts'
import type { SearchMessage, SearchReply } from './search-thread.ts'
import { keepThread } from './thread.ts'

/** A thread that is not needed takes memory: it is let go after this long. */
const IDLE_MS = 30_000

const noAnswer = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('the search does not answer', { cause })

export interface Searcher {
  readonly search: SearchStore['searchMemories']
  readonly close: () => Promise<void>
}

/** Nothing is started before the first search. */
export function startSearcher(path: string, idleMs = IDLE_MS): Searcher {
  const asked = new Map<number, PromiseWithResolvers<SearchAnswer>>()
  let searches = 0
  let idle: NodeJS.Timeout | undefined

  function settle({ id, answer, error, unavailable }: SearchReply): void {
    const waiting = asked.get(id)
    asked.delete(id)
    if (answer) waiting?.resolve(answer)
    else waiting?.reject(unavailable ? noAnswer(error) : error)
    if (asked.size === 0) idle = setTimeout(thread.rest, idleMs).unref()
  }

  const thread = keepThread<SearchMessage, SearchReply>('search-thread', path, {
    answered: settle,
    ended(cause) {
      for (const { reject } of asked.values()) reject(noAnswer(cause))
      asked.clear()
    },
  })

  return {
    async search(identity, query) {
      clearTimeout(idle)
      const id = ++searches
      thread.post({ id, identity, query })
      const waiting = Promise.withResolvers<SearchAnswer>()
      asked.set(id, waiting)
      return waiting.promise
    },
    async close() {
      clearTimeout(idle)
      await thread.close()
    },
  }
}
