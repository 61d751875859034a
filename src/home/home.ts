/** What the home's endpoints are given to work with. */
import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import type { Holdings } from '../http/holdings.ts'
import { type Budgets, countInMemory, createBudgets } from '../pipeline/budgets.ts'
import { type OriginPolicy, originPolicy } from '../pipeline/origins.ts'
import { countShared } from '../pipeline/shared-budgets.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { LeasePermits } from '../store/port/store.ts'
import { createExports, type Exports } from './exports.ts'
import { createImports, type Imports } from './import/imports.ts'
import { type HomeLimits, homeLimits } from './limits.ts'
import { createPasswords, type Passwords } from './passwords/passwords.ts'
import { scoped } from './scope.ts'
import { tellingOf } from './stream/telling.ts'
import { createWatch, type Watch } from './stream/watch.ts'

export interface Home {
  /** Asks first what the identity may do. */
  readonly store: HomeStore
  readonly budgets: Budgets
  readonly limits: HomeLimits
  readonly passwords: Passwords
  readonly exports: Exports
  /** Streams that each client holds open, the gateway's included. */
  readonly streams: Holdings
  readonly watch: Watch
  readonly imports: Imports
  readonly enabled: boolean
  readonly birthsEnabled: boolean
  readonly origins: OriginPolicy
  readonly trustedProxies: BlockList
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
  readonly random: (bytes: number) => Uint8Array
}

interface Parts extends Pick<Home, 'clock' | 'random' | 'stopwatch' | 'streams'> {
  readonly config: Config
  readonly store: HomeStore & { readonly leasePermits: LeasePermits | undefined }
}

export function createHome(parts: Parts): Home {
  const { config, store, clock, random, stopwatch, streams } = parts
  const { changedHomes } = store
  const watch = createWatch({ changedHomes, clock, stopwatch })
  const limits = homeLimits(config)
  const { leasePermits } = store
  const counting = leasePermits ? countShared(leasePermits, stopwatch) : countInMemory()
  return {
    store: tellingOf(scoped(store, clock), watch.tell),
    streams,
    watch,
    stopwatch,
    limits,
    clock,
    random,
    budgets: createBudgets(Object.values(limits.rates), counting),
    passwords: createPasswords(random),
    exports: createExports(config.EXPORT_BYTES),
    imports: createImports(config.EXPORT_BYTES),
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
