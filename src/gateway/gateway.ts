/** The dependencies of the gateway's endpoints. */
import type { Config } from '../config.ts'
import type { ConcurrencyLimit } from '../http/concurrency-limit.ts'
import { lazily } from '../lazily.ts'
import {
  admissionLimits,
  createAdmissionControl,
  type Load,
  watchEventLoop,
} from '../pipeline/admission-control.ts'
import type { GatewayStore } from '../store/port/gateway.ts'
import type { Timers } from '../timers.ts'
import { createBroadcast, streamTimings } from './broadcast.ts'
import { guideOf } from './guide.ts'

interface Parts {
  readonly config: Config
  readonly store: GatewayStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
  /** Open streams per client, shared with the home. */
  readonly streams: ConcurrencyLimit
  /** Whether the home, which has priority, was used recently. */
  readonly homeInUse: () => boolean
  readonly load?: Load
  readonly timers: Timers
}

export const createGateway = ({
  config,
  store,
  clock,
  random,
  streams,
  homeInUse,
  timers,
  load = { limits: admissionLimits, delayMs: watchEventLoop(timers) },
}: Parts) => ({
  store,
  clock,
  random,
  admission: createAdmissionControl(load, homeInUse, timers),
  broadcast: createBroadcast(store, streamTimings, timers),
  streams,
  trustedProxies: config.TRUSTED_PROXIES,
  /** How an AI gets started, with the current limits: Markdown. */
  guide: lazily(() => guideOf(config)),
})

export type Gateway = ReturnType<typeof createGateway>
