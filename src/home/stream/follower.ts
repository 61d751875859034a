/** One who follows a home: how it waits, and is woken. */
import type { Identity } from '../../store/port/home.ts'

/** Why a wait is over: there may be something to see, nothing was sent for long, or all is over. */
export type Turn = 'look' | 'beat' | 'over'

export interface Follower {
  /** `seen`: the home's newest event when it was looked at; `sentAt`: by the stopwatch. */
  readonly next: (seen: number, sentAt: number) => Promise<Turn>
  /** May be called again. */
  readonly leave: () => void
}

export interface Waiting {
  readonly identity: Identity
  readonly seen: number
  readonly sentAt: number
  readonly wake: (turn: Turn) => void
}

/** Those who follow one home. */
export interface Followed {
  readonly followers: Set<Follower>
  readonly waiting: Set<Waiting>
  /** How often it was told: who was told before it waits does not wait. */
  told: number
}

export const followedByNobody = (): Followed => ({
  followers: new Set(),
  waiting: new Set(),
  told: 0,
})

export function tell(home: Followed): void {
  home.told++
  for (const each of [...home.waiting]) each.wake('look')
}

/** `left`: called once. */
export function joinFollowers(home: Followed, identity: Identity, left: () => void): Follower {
  let { told } = home
  let open = true
  let end = () => {}

  function wait(seen: number, sentAt: number): Promise<Turn> {
    const { promise, resolve } = Promise.withResolvers<Turn>()
    const waiting: Waiting = { identity, seen, sentAt, wake }
    function wake(turn: Turn): void {
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
      const turn = told === home.told ? await wait(seen, sentAt) : 'look'
      // Told while it beats, it looks at its next turn.
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
