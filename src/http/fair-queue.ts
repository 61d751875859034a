/**
 * A fair queue with limited concurrency. Clients take turns, by IPv6 /48 first, then by address,
 * however much each has queued.
 */

import type { Timers } from '../timers.ts'
import { networkOf } from './address.ts'
import { createConcurrencyLimit, type Limits } from './concurrency-limit.ts'

export interface FairQueueOptions {
  readonly atOnce: number
  /** The part of `atOnce` that one client may use; all of it by default. */
  readonly perClient?: number
  /** Queue length, a quarter of it per client. Trusted clients have as many slots of their own. */
  readonly places: number
  /** The error for work that finds no slot, or loses it to a client with fewer. */
  readonly busy: () => Error
  /** Work that has waited for so many milliseconds is refused. Without it there is no time limit. */
  readonly patience?: Pick<Timers, 'after'> & { readonly ms: number }
}

interface Asker {
  /** As counted by `clientKey`. */
  readonly client: string
  /** Goes first, three times out of four. */
  readonly trusted?: boolean
}

interface Waiter {
  readonly client: string
  /** The client's IPv6 /48, or the client itself. */
  readonly network: string
  readonly trusted: boolean
  readonly leavePlace: () => void
  readonly begin: (release: () => void) => void
  readonly refuse: () => void
}

/** Of four turns, those that trusted clients may take while others wait. */
const TRUSTED_IN_A_ROW = 3

const groupedBy = (key: 'client' | 'network', waiters: readonly Waiter[]) => [
  ...Map.groupBy(waiters, (waiter) => waiter[key]).values(),
]

const longest = (groups: readonly (readonly Waiter[])[]): readonly Waiter[] =>
  groups.reduce((a, b) => (b.length > a.length ? b : a), [])

/** When each client and network arrived or last had a turn. */
function createTurns() {
  const last = new Map<string, number>()
  let turns = 0
  const of = (key: string): number => last.get(key) ?? 0
  const keysOf = ({ client, network }: Waiter) => [client, network]
  return {
    /** New clients go last. */
    came(waiter: Waiter): void {
      for (const key of keysOf(waiter)) if (!last.has(key)) last.set(key, ++turns)
    },
    had(waiter: Waiter): void {
      for (const key of keysOf(waiter)) last.set(key, ++turns)
    },
    /** Clients that do not wait are removed. */
    left(waiter: Waiter, waiting: ReadonlySet<Waiter>): void {
      const keys = new Set(Array.from(waiting, keysOf).flat())
      for (const key of keysOf(waiter)) if (!keys.has(key)) last.delete(key)
    },
    compare: (a: Waiter, b: Waiter): number =>
      of(a.network) - of(b.network) || of(a.client) - of(b.client),
  }
}

/** Waiting work. */
function createLine(places: number) {
  const waiting = new Set<Waiter>()
  const turns = createTurns()
  const share: Limits = { perClient: Math.ceil(places / 4), clientsPerNetwork: 2 }
  const shares = { trusted: createConcurrencyLimit(share), others: createConcurrencyLimit(share) }
  let trustedInARow = 0

  const those = (trusted: boolean): readonly Waiter[] =>
    [...waiting].filter((waiter) => waiter.trusted === trusted)

  /** If all slots are taken, the network with the most gives one up to one with fewer. */
  function makeRoom(network: string): boolean {
    const others = those(false)
    if (others.length < places) return true
    const most = longest(groupedBy('network', others))
    const mine = others.filter((waiter) => waiter.network === network).length
    if (most.length <= mine + 1) return false
    longest(groupedBy('client', most)).at(-1)?.refuse()
    return true
  }

  return {
    /** Returns a function to leave the queue; undefined if it is full. */
    takePlace(client: string, network: string, trusted: boolean): (() => void) | undefined {
      const leavePlace = shares[trusted ? 'trusted' : 'others'].take(client)
      if (!leavePlace || trusted || makeRoom(network)) return leavePlace
      leavePlace()
      return undefined
    },
    add(waiter: Waiter): void {
      waiting.add(waiter)
      turns.came(waiter)
    },
    remove(waiter: Waiter): void {
      waiting.delete(waiter)
      waiter.leavePlace()
      turns.left(waiter, waiting)
    },
    hadTurn(waiter: Waiter): void {
      turns.had(waiter)
      trustedInARow = waiter.trusted ? trustedInARow + 1 : 0
    },
    /** The order of turns. */
    inOrder(): readonly Waiter[] {
      const trustedFirst = trustedInARow < TRUSTED_IN_A_ROW
      return [trustedFirst, !trustedFirst].flatMap((trusted) =>
        those(trusted).toSorted(turns.compare),
      )
    },
  }
}

export function createFairQueue(options: FairQueueOptions) {
  const { atOnce, perClient = atOnce, places, busy, patience } = options
  const running = createConcurrencyLimit({ perClient, clientsPerNetwork: 2, total: atOnce })
  const line = createLine(places)

  /** Of clients that are below their limit. */
  function beginNext(): void {
    for (const waiter of line.inOrder()) {
      const release = running.take(waiter.client)
      if (!release) continue
      line.hadTurn(waiter)
      line.remove(waiter)
      waiter.begin(release)
      return
    }
  }

  /** Resolves with a release function. */
  async function wait({ client, trusted = false }: Asker): Promise<() => void> {
    const network = networkOf(client) ?? client
    const leavePlace = line.takePlace(client, network, trusted)
    if (!leavePlace) throw busy()
    const { promise, resolve: begin, reject } = Promise.withResolvers<() => void>()
    const refuse = () => {
      line.remove(waiter)
      reject(busy())
    }
    const waiter = { client, network, trusted, leavePlace, begin, refuse }
    line.add(waiter)
    const cancel = patience?.after(patience.ms, refuse)
    return promise.finally(() => cancel?.())
  }

  return {
    /** Throws errors of the work, or `busy()`, in which case the work has not run. */
    async run<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
      // Everyone who waits is blocked by a limit, so nobody is overtaken.
      const release = running.take(asker.client) ?? (await wait(asker))
      try {
        return await work()
      } finally {
        release()
        beginNext()
      }
    },
  }
}

export type FairQueue = ReturnType<typeof createFairQueue>
