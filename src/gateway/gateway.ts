/** What the gateway's endpoints are given to work with. */
import type { Config } from '../config.ts'
import type { Answer, Call } from '../http/call.ts'
import {
  createTurnstile,
  type Turnstile,
  turnstileLimits,
  watchEventLoop,
} from '../pipeline/admission-control.ts'
import type { GatewayStore } from '../store/port.ts'
import { type Arrivals, createArrivals, streamPace } from './stream/broadcast.ts'

export interface Gateway {
  readonly store: GatewayStore
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
  /** Entries that each feed keeps; 0 turns composting off. */
  readonly feedCapacity: number
  readonly turnstile: Turnstile
  readonly arrivals: Arrivals
  /** The page at `/` for a browser; without one, every client gets the information object. */
  readonly landing?: ((call: Call) => Answer | Promise<Answer>) | undefined
}

type Parts = Pick<Gateway, 'store' | 'clock' | 'random' | 'landing'> & {
  readonly config: Config
  /** Whether the home, which goes first, was asked for something a moment ago. */
  readonly homeIsAsked: () => boolean
}

export const createGateway = ({
  config,
  store,
  clock,
  random,
  landing,
  homeIsAsked,
}: Parts): Gateway => ({
  store,
  clock,
  random,
  feedCapacity: config.FEED_CAPACITY,
  turnstile: createTurnstile(turnstileLimits, watchEventLoop(), homeIsAsked),
  arrivals: createArrivals(store, streamPace),
  landing,
})
