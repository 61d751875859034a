/** Every limit of the agent home, in the one list that preview prints and the code enforces. */
import type { Config } from '../config.ts'
import { fields } from '../fields.ts'
import { MAX_DEPTH, MAX_MEMBERS, MAX_VALUES } from '../http/json.ts'
import { PLACES } from '../http/spool.ts'
import { MOST_CHARS, MOST_EXPONENT_DIGITS } from '../json/decimals.ts'
import type { BudgetPolicy } from '../pipeline/budgets.ts'
import {
  FAILURES,
  SESSIONS,
  SIGN_INS,
  SIGN_INS_IN_ALL,
  SIGN_INS_KNOWN,
} from '../pipeline/failures.ts'
import { KEYS_PER_AGENT } from '../store/port/keys.ts'
import { PASSKEYS_PER_ACCOUNT } from '../store/port/passkeys.ts'
import { SESSIONS_PER_ACCOUNT } from '../store/port/sessions.ts'

/** What a request's body may be, before its fields are looked at. */
export const body = {
  maxBytes: 131_072,
  maxDepth: MAX_DEPTH,
  maxMembers: MAX_MEMBERS,
  maxValues: MAX_VALUES,
  maxNumberLength: MOST_CHARS,
  maxExponentDigits: MOST_EXPONENT_DIGITS,
} as const

/** What one batch may hold; `answerBytes`: the texts and metadata that it is answered with. */
export const batch = {
  operations: 100,
  maxBytes: 1_048_576,
  answerBytes: 1_048_576,
} as const

/**
 * What runs at once; what is more waits for its turn. Of one agent an export is sent and an import
 * taken at a time: one more is refused.
 */
export const atOnce = {
  exports: { perAgent: 1, perAddress: 1, inAll: 4 },
  imports: { perAgent: 1, perAddress: 1, inAll: 4 },
  searches: { perAddress: 1, inAll: 4 },
} as const

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600

/** What a whole IPv6 /48 may do, in shares of one address: it is one site, with many people in it. */
const ADDRESSES_OF_A_NETWORK = 5

/** What all strangers together may get wrong about one account, in shares of one network. */
const NETWORKS_OF_STRANGERS = 50

export type BudgetName = 'reads' | 'writes' | 'exports' | 'controls' | 'births'

export interface Rate extends BudgetPolicy {
  /** Who has a budget of their own: the agent, with its named keys, and its operator. */
  readonly spentBy?: readonly ('agent' | 'operator')[]
  readonly per:
    | 'agent'
    | 'address'
    | 'network'
    | 'account'
    | 'address and account'
    | 'network and account'
    | 'service'
}

export interface HomeLimits {
  readonly fields: typeof fields & { readonly body: typeof body }
  /** 0 means without limit, here and in every quota below. */
  readonly memoriesPerAgent: number
  /** UTF-8 bytes of texts and metadata, earlier versions included: the oldest of these give way. */
  readonly bytesPerAgent: number
  /** Of each memory, the current one included. */
  readonly versionsPerMemory: number
  readonly eventsPerAgent: number
  readonly batch: typeof batch
  /** UTF-8 bytes of an export as it is sent to be imported. */
  readonly importBytes: number
  /** Named ones. */
  readonly keysPerAgent: number
  readonly passkeysPerAccount: number
  /** One more ends the oldest. */
  readonly sessionsPerAccount: number
  /** At once, from one client's address, like the three that follow. */
  readonly connectionsPerAddress: number
  readonly streamsPerAddress: number
  /** Exports and imports that are under way, and UTF-8 bytes of them that wait. */
  readonly transfersPerAddress: number
  readonly transferBytesPerAddress: number
  readonly atOnce: typeof atOnce
  readonly rates: Readonly<
    Record<
      | BudgetName
      | 'birthsPerNetwork'
      | 'birthsInAll'
      | 'failures'
      | 'signIns'
      | 'signInsInAll'
      | 'signInsKnown'
      | 'sessions',
      Rate
    >
  >
}

function ratesOf(config: Config): HomeLimits['rates'] {
  const rate = (name: string, quota: number, windowSeconds: number, per: Rate['per']): Rate => ({
    name,
    quota,
    windowSeconds,
    per,
  })
  const spent = (...rated: Parameters<typeof rate>): Rate => ({
    ...rate(...rated),
    spentBy: ['agent', 'operator'],
  })
  return {
    reads: spent('reads', config.READS_PER_MINUTE, MINUTE_SECONDS, 'agent'),
    writes: spent('writes', config.WRITES_PER_MINUTE, MINUTE_SECONDS, 'agent'),
    exports: spent('exports', config.EXPORTS_PER_MINUTE, MINUTE_SECONDS, 'agent'),
    controls: {
      ...rate('controls', config.CONTROLS_PER_MINUTE, MINUTE_SECONDS, 'agent'),
      spentBy: ['operator'],
    },
    births: rate('births', config.BIRTHS_PER_HOUR_PER_ADDRESS, HOUR_SECONDS, 'address'),
    birthsPerNetwork: rate(
      'births-per-network',
      config.BIRTHS_PER_HOUR_PER_ADDRESS * ADDRESSES_OF_A_NETWORK,
      HOUR_SECONDS,
      'network',
    ),
    birthsInAll: rate('births-in-all', config.BIRTHS_PER_HOUR, HOUR_SECONDS, 'service'),
    failures: rate(FAILURES, config.FAILURES_PER_MINUTE, MINUTE_SECONDS, 'address'),
    signIns: rate(SIGN_INS, config.SIGN_IN_FAILURES_PER_HOUR, HOUR_SECONDS, 'network and account'),
    signInsInAll: rate(
      SIGN_INS_IN_ALL,
      config.SIGN_IN_FAILURES_PER_HOUR * NETWORKS_OF_STRANGERS,
      HOUR_SECONDS,
      'account',
    ),
    signInsKnown: rate(
      SIGN_INS_KNOWN,
      config.FAILURES_PER_MINUTE,
      MINUTE_SECONDS,
      'address and account',
    ),
    sessions: rate(SESSIONS, config.SIGN_INS_PER_MINUTE, MINUTE_SECONDS, 'account'),
  }
}

export function homeLimits(config: Config): HomeLimits {
  return {
    fields: { ...fields, body },
    memoriesPerAgent: config.MEMORIES_PER_AGENT,
    bytesPerAgent: config.BYTES_PER_AGENT,
    versionsPerMemory: config.VERSIONS_PER_MEMORY,
    eventsPerAgent: config.EVENTS_PER_AGENT,
    batch,
    importBytes: config.EXPORT_BYTES,
    keysPerAgent: KEYS_PER_AGENT,
    passkeysPerAccount: PASSKEYS_PER_ACCOUNT,
    sessionsPerAccount: SESSIONS_PER_ACCOUNT,
    connectionsPerAddress: config.CONNECTIONS_PER_ADDRESS,
    streamsPerAddress: config.STREAMS_PER_ADDRESS,
    transfersPerAddress: PLACES,
    transferBytesPerAddress: config.EXPORT_BYTES,
    atOnce,
    rates: ratesOf(config),
  }
}
