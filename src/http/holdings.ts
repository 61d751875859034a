/** What each network holds at once, of connections or of streams: one can use up no more than its share. */
import type { Network } from './address.ts'

export interface Holdings {
  /** Gives how to let go, for once; undefined where one of the networks holds all that it may. */
  readonly take: (networks: readonly Network[]) => (() => void) | undefined
}

/** 0 is without bound. */
export function createHoldings(perAddress: number): Holdings {
  // Whoever holds nothing is forgotten, so that it is no larger than what is held.
  const held = new Map<string, number>()
  const heldBy = ({ key }: Network): number => held.get(key) ?? 0

  function add(network: Network, change: 1 | -1): void {
    const now = heldBy(network) + change
    if (now === 0) held.delete(network.key)
    else held.set(network.key, now)
  }

  return {
    take(networks) {
      const full = networks.some((each) => heldBy(each) >= perAddress * each.times)
      if (perAddress > 0 && full) return undefined
      for (const each of networks) add(each, 1)
      let holding = true
      return () => {
        if (holding) for (const each of networks) add(each, -1)
        holding = false
      }
    },
  }
}
