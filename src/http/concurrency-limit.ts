/**
 * Concurrency limits: how many connections, streams, slots or bytes a client holds at once, so that
 * one cannot use up everything.
 */
import { networkOf } from './address.ts'

/** 0 means no limit. */
export interface Limits {
  readonly perClient: number
  /**
   * The limit of an IPv6 /48, which is one site with many people, as a multiple of one client's.
   * Defaults to 4.
   */
  readonly clientsPerNetwork?: number
  readonly total?: number
}

/** A total of four shares: a quarter for each client, and half for a network. */
export const quarters = (perClient: number): Limits => ({
  perClient,
  clientsPerNetwork: 2,
  total: 4 * perClient,
})

export interface Held {
  /** Takes all or nothing. False: the client, its network or the total is at its limit. */
  readonly take: (amount: number) => boolean
  /** Releases everything that was taken. May be called again. */
  readonly release: () => void
}

interface Share {
  readonly key: string
  readonly most: number
}

/** Not a client's key. */
const EVERYBODY = '*'

function sharesOf(client: string, { perClient, clientsPerNetwork = 4, total = 0 }: Limits) {
  const network = networkOf(client)
  const shares: Share[] = [
    { key: client, most: perClient },
    ...(network ? [{ key: network, most: perClient * clientsPerNetwork }] : []),
    { key: EVERYBODY, most: total },
  ]
  return shares.filter(({ most }) => most > 0)
}

export function createConcurrencyLimit(limits: Limits) {
  // A client that holds nothing has no entry, so the map is no larger than what is held.
  const held = new Map<string, number>()
  const heldBy = ({ key }: Share): number => held.get(key) ?? 0

  function add(share: Share, amount: number): void {
    const now = heldBy(share) + amount
    if (now === 0) held.delete(share.key)
    else held.set(share.key, now)
  }

  function open(client: string): Held {
    const shares = sharesOf(client, limits)
    let taken = 0
    return {
      take(amount) {
        if (shares.some((each) => heldBy(each) + amount > each.most)) return false
        for (const each of shares) add(each, amount)
        taken += amount
        return true
      },
      release() {
        for (const each of shares) add(each, -taken)
        taken = 0
      },
    }
  }

  return {
    open,
    /** Takes one and returns its release function. Undefined if `open(client).take(1)` is false. */
    take(client: string): (() => void) | undefined {
      const one = open(client)
      return one.take(1) ? one.release : undefined
    },
  }
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>
