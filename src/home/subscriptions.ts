/**
 * Subscriptions to a home's events. Changes by this process wake subscribers at once; changes by
 * other processes are found by one poll a second for all of them. An idle subscriber costs no query.
 */
import { hasExpired } from '../pipeline/tokens.ts'
import type { EventStore } from '../store/port/events.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import type { Timers } from '../timers.ts'
import { eachVerb, homeVerbs, VERBS } from './home-verbs.ts'

/** Why a wait ended: new events are possible, a heartbeat is due, or the service stops. */
export type Wake = 'look' | 'beat' | 'over'

export interface Follower {
  /** `seen`: the home's newest event at the last check; `sentAt`: by the stopwatch. */
  readonly next: (seen: number, sentAt: number) => Promise<Wake>
  /** May be called again. */
  readonly leave: () => void
}

export interface Waiting {
  readonly identity: Identity
  readonly seen: number
  readonly sentAt: number
  readonly wake: (turn: Wake) => void
}

/** Subscribers of one home. */
interface Followed {
  readonly followers: Set<Follower>
  readonly waiting: Set<Waiting>
  /** Counts notifications, so that one before the wait is not missed. */
  told: number
}

const followedByNobody = (): Followed => ({
  followers: new Set(),
  waiting: new Set(),
  told: 0,
})

export function tell(home: Followed): void {
  home.told++
  for (const each of [...home.waiting]) each.wake('look')
}

interface Joining {
  readonly isBeatDue: (sentAt: number) => boolean
  /** Called once. */
  readonly left: () => void
}

function joinFollowers(home: Followed, identity: Identity, { isBeatDue, left }: Joining): Follower {
  let { told } = home
  let open = true
  let end = () => {}

  function wait(seen: number, sentAt: number): Promise<Wake> {
    const { promise, resolve } = Promise.withResolvers<Wake>()
    const waiting: Waiting = { identity, seen, sentAt, wake }
    function wake(turn: Wake): void {
      home.waiting.delete(waiting)
      resolve(turn)
    }
    end = () => wake('over')
    home.waiting.add(waiting)
    return promise
  }

  const follower: Follower = {
    async next(seen, sentAt) {
      if (!open) return 'over'
      // Looks that send nothing, because the store does not answer, must not crowd out heartbeats.
      if (isBeatDue(sentAt)) return 'beat'
      const turn = told === home.told ? await wait(seen, sentAt) : 'look'
      // A notification during a heartbeat is seen on the next turn.
      if (turn === 'look') told = home.told
      return open ? turn : 'over'
    },
    leave() {
      if (!open) return
      open = false
      home.followers.delete(follower)
      end()
      left()
    },
  }
  home.followers.add(follower)
  return follower
}

export interface Subscriptions {
  readonly follow: (identity: Identity) => Follower
  /** Something happened in this home: wake its subscribers. */
  readonly tell: (agentId: string) => void
  /** Wakes those whose time has come; called once a second while there are subscribers. */
  readonly look: () => Promise<void>
  /** Ends every stream permanently. */
  readonly close: () => void
}

interface Parts extends Pick<EventStore, 'changedHomes'>, Pick<Timers, 'stopwatch' | 'after'> {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

type Homes = Map<string, Followed>

/** Between two polls. */
const LOOK_MS = 1_000

const HEARTBEAT_MS = 15_000

/** Homes per query. */
const MOST_ASKED = 1_000

const oldestSeen = (waiting: Iterable<Waiting>): number =>
  Math.min(...Array.from(waiting, ({ seen }) => seen))

function wakeDue(homes: Homes, now: number, isBeatDue: Joining['isBeatDue']): void {
  for (const { waiting } of homes.values()) {
    for (const each of [...waiting]) {
      if (hasExpired(each.identity, now)) each.wake('look')
      else if (isBeatDue(each.sentAt)) each.wake('beat')
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

export function createSubscriptions(parts: Parts): Subscriptions {
  const homes: Homes = new Map()
  let looking = false
  let asking = false
  let closed = false
  const isBeatDue = (sentAt: number) => parts.stopwatch() - sentAt >= HEARTBEAT_MS

  async function look(): Promise<void> {
    wakeDue(homes, parts.clock(), isBeatDue)
    // A store that hangs is not asked again meanwhile, and delays no heartbeat.
    if (asking) return
    asking = true
    // If the store does not answer, the next poll catches up.
    await wakeForNews(homes, parts).catch(() => {})
    asking = false
  }

  function keepLooking(): void {
    if (looking) return
    looking = true
    parts.after(LOOK_MS, () => {
      looking = false
      void look()
      if (homes.size > 0) keepLooking()
    })
  }

  return {
    follow(identity) {
      const { agentId } = identity
      const home = homes.get(agentId) ?? followedByNobody()
      homes.set(agentId, home)
      const left = () => {
        if (home.followers.size === 0) homes.delete(agentId)
      }
      const follower = joinFollowers(home, identity, { isBeatDue, left })
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

type Change = (identity: Identity, ...args: readonly unknown[]) => Promise<unknown>

/** Tells of what logs an event, after a failure too, whose outcome may be unknown. */
export function notifyingStore(store: HomeStore, tell: (agentId: string) => void): HomeStore {
  const logging = VERBS.filter((name) => homeVerbs[name].logs)
  const telling = eachVerb(logging, (name) => (identity, ...args) => {
    const changed = (store[name] as Change)(identity, ...args)
    const told = () => tell(identity.agentId)
    changed.then(told, told)
    return changed
  })
  return { ...store, ...telling }
}
