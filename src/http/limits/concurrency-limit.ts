/**
 * How much each client holds at once, of connections, streams, places or bytes, so that one client
 * uses up no more than its share.
 */
import { networkOf } from '../address.ts'

/** In the unit of what is held; 0 is without limit. */
export interface Limits {
  readonly perClient: number
  /**
   * What a whole IPv6 /48 may hold, in shares of one client: it is one site, with many people in it.
   * 4 where it is left out.
   */
  readonly clientsPerNetwork?: number
  readonly total?: number
}

/** A total of four shares: a quarter for each client, and half for all of a network. */
export const quarters = (perClient: number): Limits => ({
  perClient,
  clientsPerNetwork: 2,
  total: 4 * perClient,
})

export interface Held {
  /** Takes all of it, or nothing. False: the client, its network or the total is at its limit. */
  readonly take: (amount: number) => boolean
  /** Releases everything that was taken. May be called again. */
  readonly release: () => void
}

export interface ConcurrencyLimit {
  readonly open: (client: string) => Held
  /** Takes one, and returns how to release it. Undefined where `open(client).take(1)` is false. */
  readonly take: (client: string) => (() => void) | undefined
}

interface Share {
  readonly key: string
  readonly most: number
}

/** No client's key. */
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

export function createConcurrencyLimit(limits: Limits): ConcurrencyLimit {
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
    take(client) {
      const one = open(client)
      return one.take(1) ? one.release : undefined
    },
  }
}
