/** The dependencies of the gateway's endpoints. */
import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts'
import { lazily } from '../lazily.ts'
import {
  type AdmissionControl,
  admissionLimits,
  createAdmissionControl,
  type Load,
  watchEventLoop,
} from '../pipeline/admission-control.ts'
import type { GatewayStore } from '../store/port/gateway.ts'
import { type Broadcast, createBroadcast, streamTimings } from './broadcast.ts'
import { guideOf } from './guide.ts'

export interface Gateway {
  readonly store: GatewayStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
  readonly admission: AdmissionControl
  readonly broadcast: Broadcast
  /** Open streams per client, shared with the home. */
  readonly streams: ConcurrencyLimit
  readonly trustedProxies: BlockList
  /** How an AI gets started, with the current limits: Markdown. */
  readonly guide: () => string
}

interface Parts extends Pick<Gateway, 'store' | 'clock' | 'random' | 'streams'> {
  readonly config: Config
  /** Whether the home, which has priority, was used recently. */
  readonly homeIsAsked: () => boolean
  readonly load?: Load
}

export const createGateway = ({
  config,
  store,
  clock,
  random,
  streams,
  homeIsAsked,
  load = { limits: admissionLimits, delayMs: watchEventLoop() },
}: Parts): Gateway => ({
  store,
  clock,
  random,
  admission: createAdmissionControl(load.limits, load.delayMs, homeIsAsked),
  broadcast: createBroadcast(store, streamTimings),
  streams,
  trustedProxies: config.TRUSTED_PROXIES,
  guide: lazily(() => guideOf(config)),
})
