/** What each client holds at once, of connections or of streams: one can use up no more than its share. */
import { networkOf } from './address.ts'

/** What a whole IPv6 /48 may hold, in shares of one client: it is one site, with many people in it. */
const CLIENTS_OF_A_NETWORK = 4

export interface Holdings {
  /** Gives how to let go, for once; undefined where the client, or its network, holds all it may. */
  readonly take: (client: string) => (() => void) | undefined
}

interface Share {
  readonly key: string
  readonly most: number
}

function sharesOf(client: string, perClient: number): readonly Share[] {
  const own = { key: client, most: perClient }
  const network = networkOf(client)
  return network ? [own, { key: network, most: perClient * CLIENTS_OF_A_NETWORK }] : [own]
}

/** 0 is without bound. */
export function createHoldings(perClient: number): Holdings {
  // Whoever holds nothing is forgotten, so that it is no larger than what is held.
  const held = new Map<string, number>()
  const heldBy = ({ key }: Share): number => held.get(key) ?? 0

  function add(share: Share, change: 1 | -1): void {
    const now = heldBy(share) + change
    if (now === 0) held.delete(share.key)
    else held.set(share.key, now)
  }

  return {
    take(client) {
      const shares = sharesOf(client, perClient)
      if (perClient > 0 && shares.some((each) => heldBy(each) >= each.most)) return undefined
      for (const each of shares) add(each, 1)
      let holding = true
      return () => {
        if (holding) for (const each of shares) add(each, -1)
        holding = false
      }
    },
  }
}
