/** The dependencies of the home's endpoints. */

import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import { problem } from '../errors.ts'
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts'
import { createFairQueue, type FairQueue } from '../http/fair-queue.ts'
import { type Budgets, countInMemory, createBudgets } from '../pipeline/budgets.ts'
import { type OriginPolicy, originPolicy } from '../pipeline/origins.ts'
import { countShared } from '../pipeline/shared-budgets.ts'
import type { Signing } from '../pipeline/signing.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { LeasePermits } from '../store/port/store.ts'
import type { Timers } from '../timers.ts'
import { authorizedStore } from './authorized-store.ts'
import { createExports, type Exports, endingExports } from './exports.ts'
import { createImports, type Imports } from './import/imports.ts'
import { atOnce, type HomeLimits, homeLimits } from './limits.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createSpool } from './spool.ts'
import { createSubscriptions, notifyingStore, type Subscriptions } from './subscriptions.ts'

export interface Home {
  /** Checks the rights of the identity before each call. */
  readonly store: HomeStore
  readonly budgets: Budgets
  readonly limits: HomeLimits
  readonly passwords: Passwords
  readonly exports: Exports
  /** Open streams per client, shared with the gateway. */
  readonly streams: ConcurrencyLimit
  readonly subscriptions: Subscriptions
  readonly imports: Imports
  /** The queue of searches. */
  readonly searches: FairQueue
  /** The queue of calls that cost several reads or writes. */
  readonly costly: FairQueue
  readonly enabled: boolean
  readonly birthsEnabled: boolean
  readonly origins: OriginPolicy
  readonly trustedProxies: BlockList
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
  readonly random: (bytes: number) => Uint8Array
  /** The key that signs statements of heads. */
  readonly signing: Signing
}

/**
 * One at a time per client, because all four slots in use would delay other clients. A search may
 * wait some seconds for other homes' indexes to be built, and is not refused for it.
 */
const SEARCHES = {
  atOnce: atOnce.searches.inAll,
  perClient: atOnce.searches.perAddress,
  places: 256,
}
const SEARCH_WAIT_MS = 30_000

/** Contexts and batches. As many may wait as an address may have connections. */
const COSTLY = { atOnce: 32, perClient: 8, places: 1_024 }

interface Parts extends Pick<Home, 'clock' | 'random' | 'signing' | 'streams'> {
  readonly config: Config
  readonly store: HomeStore & { readonly leasePermits: LeasePermits | undefined }
  readonly timers: Timers
}

const busy = () => problem('overloaded')

export function createHome(parts: Parts): Home {
  const { config, store, clock, random, signing, streams, timers } = parts
  const { stopwatch, after } = timers
  const { changedHomes } = store
  const allowed = authorizedStore(store, clock)
  const subscriptions = createSubscriptions({ changedHomes, clock, stopwatch, after })
  const spool = createSpool({ maxBytes: config.EXPORT_BYTES })
  const exports = createExports({
    spool,
    countErasures: allowed.countErasures,
    follow: subscriptions.follow,
    after,
  })
  const limits = homeLimits(config)
  const { leasePermits } = store
  const counting = leasePermits ? countShared(leasePermits, stopwatch) : countInMemory(timers)
  return {
    store: endingExports(notifyingStore(allowed, subscriptions.tell), exports),
    streams,
    subscriptions,
    stopwatch,
    limits,
    clock,
    random,
    budgets: createBudgets(Object.values(limits.rates), counting),
    signing,
    passwords: createPasswords(random),
    exports,
    imports: createImports(spool),
    searches: createFairQueue({ ...SEARCHES, busy, patience: { ms: SEARCH_WAIT_MS, after } }),
    costly: createFairQueue({ ...COSTLY, busy }),
    enabled: config.HOME_ENABLED,
    birthsEnabled: config.BIRTHS_ENABLED,
    origins: originPolicy({
      publicUrl: config.PUBLIC_URL,
      listener: config.HOST,
      allowed: config.ALLOWED_ORIGINS,
    }),
    trustedProxies: config.TRUSTED_PROXIES,
  }
}
