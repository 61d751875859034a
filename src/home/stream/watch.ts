/**
 * Who waits for what happens in a home: woken at once by what this process changed, and by one look
 * for all of them, once a second, at what other processes did. Whoever only waits asks nothing.
 */
import { hasExpired } from '../../pipeline/guards/bearer.ts'
import type { Identity } from '../../store/port/home.ts'
import type { EventStore } from '../../store/port/keeping/events.ts'
import {
  type Followed,
  type Follower,
  followedByNobody,
  joinFollowers,
  tell,
  type Waiting,
} from './follower.ts'

export interface Watch {
  readonly follow: (identity: Identity) => Follower
  /** Something happened in this home: look now. */
  readonly tell: (agentId: string) => void
  /** Wakes whom it is time for; done by itself once a second while somebody follows. */
  readonly look: () => Promise<void>
  /** Ends every stream, for good. */
  readonly close: () => void
}

interface Parts extends Pick<EventStore, 'changedHomes'> {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
}

type Homes = Map<string, Followed>

/** Between two looks at what was not told. */
const LOOK_MS = 1_000

const HEARTBEAT_MS = 15_000

/** Homes that are asked about in one question. */
const MOST_ASKED = 1_000

const oldestSeen = (waiting: Iterable<Waiting>): number =>
  Math.min(...Array.from(waiting, ({ seen }) => seen))

function wakeDue(homes: Homes, { clock, stopwatch }: Parts): void {
  const [now, time] = [clock(), stopwatch()]
  for (const { waiting } of homes.values()) {
    for (const each of [...waiting]) {
      if (hasExpired(each.identity, now)) each.wake('look')
      else if (time - each.sentAt >= HEARTBEAT_MS) each.wake('beat')
    }
  }
}

async function wakeForNews(homes: Homes, { changedHomes }: Parts): Promise<void> {
  const watched = [...homes].filter(([, { waiting }]) => waiting.size > 0)
  for (let from = 0; from < watched.length; from += MOST_ASKED) {
    const seen = watched
      .slice(from, from + MOST_ASKED)
      .map(([agentId, { waiting }]) => [agentId, oldestSeen(waiting)] as const)
    for (const agentId of await changedHomes(new Map(seen))) {
      const home = homes.get(agentId)
      if (home) tell(home)
    }
  }
}

export function createWatch(parts: Parts): Watch {
  const homes: Homes = new Map()
  let looking = false
  let closed = false

  async function look(): Promise<void> {
    wakeDue(homes, parts)
    // A store that does not answer is asked again: nothing is missed by waiting.
    await wakeForNews(homes, parts).catch(() => {})
  }

  function keepLooking(): void {
    if (looking) return
    looking = true
    setTimeout(async () => {
      await look()
      looking = false
      if (homes.size > 0) keepLooking()
    }, LOOK_MS).unref()
  }

  return {
    follow(identity) {
      const { agentId } = identity
      const home = homes.get(agentId) ?? followedByNobody()
      homes.set(agentId, home)
      const follower = joinFollowers(home, identity, () => {
        if (home.followers.size === 0) homes.delete(agentId)
      })
      if (closed) follower.leave()
      else keepLooking()
      return follower
    },
    tell(agentId) {
      const home = homes.get(agentId)
      if (home) tell(home)
    },
    look,
    close() {
      closed = true
      for (const { followers } of [...homes.values()])
        for (const each of [...followers]) each.leave()
    },
  }
}
