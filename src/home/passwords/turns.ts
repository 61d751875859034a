/**
 * Whose hash is computed next. A hash is dear, so two run at once and the rest wait: each client in
 * its turn, however much it sends, and whoever is trusted before them all.
 */
import { type Problem, problem } from '../../errors.ts'
import type { Attempt } from '../../pipeline/failures.ts'

const AT_ONCE = 2

/** Strangers who may wait: the last of them does for two seconds. */
const WAITING = 128

/** Under way and waiting, of one client for one account. */
const OF_ONE = 4

interface Waiter {
  readonly begin: () => void
  readonly refuse: (busy: Problem) => void
}

/** Those who wait, by client. */
function createLine() {
  const byClient = new Map<string, Waiter[]>()
  let size = 0
  return {
    size: () => size,
    of: (client: string): number => byClient.get(client)?.length ?? 0,
    add(client: string, waiter: Waiter): void {
      size++
      byClient.set(client, [...(byClient.get(client) ?? []), waiter])
    },
    /** One of the client whose turn it is; the client's next turn is after all others'. */
    next(): Waiter | undefined {
      const [[client, [first, ...rest]] = ['', [] as Waiter[]]] = byClient
      if (!first) return undefined
      size--
      byClient.delete(client)
      if (rest.length > 0) byClient.set(client, rest)
      return first
    },
    /** The newest of the client that has the most of them, if those are more than so many. */
    giveWay(than: number): Waiter | undefined {
      const most = [...byClient.values()].reduce((a, b) => (b.length > a.length ? b : a), [])
      if (most.length <= than) return undefined
      size--
      return most.pop()
    },
  }
}

/** How many hold each name. */
function createHolds() {
  const held = new Map<string, number>()
  return {
    of: (name: string): number => held.get(name) ?? 0,
    change(name: string, by: 1 | -1): void {
      const now = (held.get(name) ?? 0) + by
      if (now > 0) held.set(name, now)
      else held.delete(name)
    },
  }
}

export type InTurn = <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>

/** What it gives throws `passwords_busy` when the client or all clients have too many waiting. */
export function createTurns(): InTurn {
  const trusted = createLine()
  const strangers = createLine()
  const holds = createHolds()
  let running = 0

  /** In a full line whoever has the most there makes room for whoever has less. */
  function makeRoom(client: string): void {
    if (strangers.size() < WAITING) return
    const other = strangers.giveWay(strangers.of(client) + 1)
    if (!other) throw problem('passwords_busy')
    other.refuse(problem('passwords_busy'))
  }

  async function begin({ client, trusted: isTrusted }: Attempt): Promise<void> {
    if (running < AT_ONCE) {
      running++
      return
    }
    if (!isTrusted) makeRoom(client)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const line = isTrusted ? trusted : strangers
    line.add(client, { begin: resolve, refuse: reject })
    await promise
  }

  function end(): void {
    const next = trusted.next() ?? strangers.next()
    if (next) next.begin()
    else running--
  }

  return async (attempt, work) => {
    const pair = `${attempt.client} ${attempt.email}`
    if (holds.of(pair) >= OF_ONE) throw problem('passwords_busy')
    holds.change(pair, 1)
    try {
      await begin(attempt)
      return await work().finally(end)
    } finally {
      holds.change(pair, -1)
    }
  }
}
