/** Searches take turns: few at once, one of each agent, and a bounded number that waits. */
import { StoreOverloaded } from '../port/errors.ts'
import type { Identity } from '../port/home.ts'
import type { SearchAnswer, SearchQuery } from '../port/keeping/search.ts'
import { DEADLINE_MS, tooLate } from './look.ts'

export type Search = (identity: Identity, query: SearchQuery) => Promise<SearchAnswer>

/** At once: each holds what it found of a look. */
const MOST_RUNNING = 4

/** Running ones included. */
const MOST_WAITING = 64

/** What one agent may have of these. */
const MOST_OF_AN_AGENT = 8

interface Waiting {
  readonly agentId: string
  readonly start: () => Promise<void>
}

export function takingTurns(search: Search): Search {
  let waiting: Waiting[] = []
  const running = new Set<string>()
  const asked = new Map<string, number>()

  function count(agentId: string, by: number): void {
    const now = (asked.get(agentId) ?? 0) + by
    if (now > 0) asked.set(agentId, now)
    else asked.delete(agentId)
  }

  const isFull = (agentId: string): boolean =>
    waiting.length + running.size >= MOST_WAITING || (asked.get(agentId) ?? 0) >= MOST_OF_AN_AGENT

  function startNext(): void {
    while (running.size < MOST_RUNNING) {
      const next = waiting.find(({ agentId }) => !running.has(agentId))
      if (!next) return
      waiting = waiting.filter((each) => each !== next)
      running.add(next.agentId)
      void next.start().finally(() => {
        running.delete(next.agentId)
        startNext()
      })
    }
  }

  /** Settles by the deadline, however long the search itself goes on. */
  async function wait(identity: Identity, query: SearchQuery): Promise<SearchAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<SearchAnswer>()
    const { agentId } = identity
    const start = () => search(identity, query).then(resolve, reject)
    const mine: Waiting = { agentId, start }
    const timer = setTimeout(() => {
      waiting = waiting.filter((each) => each !== mine)
      reject(tooLate())
    }, DEADLINE_MS)
    waiting.push(mine)
    startNext()
    return promise.finally(() => clearTimeout(timer))
  }

  return async (identity, query) => {
    const { agentId } = identity
    if (isFull(agentId)) throw new StoreOverloaded('too many searches wait')
    count(agentId, 1)
    return wait(identity, query).finally(() => count(agentId, -1))
  }
}
