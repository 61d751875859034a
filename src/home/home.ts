/** What the home's endpoints are given to work with. */
import type { BlockList } from 'node:net'
import type { Budgets } from '../pipeline/budgets.ts'
import type { OriginPolicy } from '../pipeline/guards/origin.ts'
import type { HomeStore } from '../store/port.ts'
import type { HomeLimits } from './limits.ts'
import type { Passwords } from './passwords.ts'

export interface Home {
  readonly store: HomeStore
  readonly budgets: Budgets
  readonly limits: HomeLimits
  readonly passwords: Passwords
  readonly enabled: boolean
  readonly birthsEnabled: boolean
  readonly origins: OriginPolicy
  readonly trustedProxies: BlockList
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}
