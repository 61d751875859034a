/**
 * Who waits for what happens in a home: woken at once by what this process changed, and by time for
 * what other processes did, or that a key came to its end.
 */

export interface Follower {
  /** Resolves when something happened, or it is time to look; false once it is over. */
  readonly next: () => Promise<boolean>
  /** May be called again. */
  readonly leave: () => void
}

export interface Watch {
  readonly follow: (agentId: string) => Follower
  /** Something happened in this home: look now. */
  readonly tell: (agentId: string) => void
  /** Ends every stream, for good. */
  readonly close: () => void
}

interface Waiting {
  wake: () => void
  told: boolean
  open: boolean
}

/** Between two looks where nothing was told. Each follower's own, so that not all look at once. */
const POLL_MS = 1_000

/** Told before it waits, it does not wait. */
function wait(waiting: Waiting): Promise<void> {
  if (waiting.told || !waiting.open) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, POLL_MS)
  waiting.wake = resolve
  return promise.finally(() => clearTimeout(timer))
}

function tellOne(waiting: Waiting): void {
  waiting.told = true
  waiting.wake()
}

export function createWatch(): Watch {
  const followed = new Map<string, Set<Waiting>>()
  let closed = false

  function end(agentId: string, waiting: Waiting): void {
    if (!waiting.open) return
    waiting.open = false
    const others = followed.get(agentId)
    others?.delete(waiting)
    if (others?.size === 0) followed.delete(agentId)
    waiting.wake()
  }

  return {
    follow(agentId) {
      const waiting: Waiting = { wake: () => {}, told: false, open: !closed }
      followed.set(agentId, (followed.get(agentId) ?? new Set()).add(waiting))
      return {
        async next() {
          await wait(waiting)
          waiting.told = false
          return waiting.open
        },
        leave: () => end(agentId, waiting),
      }
    },
    tell(agentId) {
      for (const waiting of followed.get(agentId) ?? []) tellOne(waiting)
    },
    close() {
      closed = true
      for (const [agentId, all] of followed) for (const each of [...all]) end(agentId, each)
    },
  }
}
