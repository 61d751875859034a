/** Every limit of the agent home, in one list that preview shows and the code enforces. */
import type { Config } from '../config.ts'
import { fields } from '../fields.ts'
import { MAX_DEPTH, MAX_MEMBERS, MAX_VALUES } from '../http/json.ts'
import { MOST_CHARS, MOST_EXPONENT_DIGITS } from '../json/decimals.ts'
import type { BudgetPolicy } from '../pipeline/budgets.ts'
import {
  FAILURES,
  SESSIONS,
  SIGN_INS,
  SIGN_INS_IN_ALL,
  SIGN_INS_KNOWN,
} from '../pipeline/failures.ts'
import { isLoopback } from '../pipeline/origins.ts'
import { KEYS_PER_AGENT } from '../store/port/keys.ts'
import { KNOWN_EVENTS, KNOWN_MS } from '../store/port/memories.ts'
import { PASSKEYS_PER_ACCOUNT } from '../store/port/passkeys.ts'
import { SESSIONS_PER_ACCOUNT } from '../store/port/sessions.ts'
import { PLACES } from './spool.ts'

/** The size of a request body, before its fields are validated. */
export const body = {
  maxBytes: 131_072,
  maxDepth: MAX_DEPTH,
  maxMembers: MAX_MEMBERS,
  maxValues: MAX_VALUES,
  maxNumberLength: MOST_CHARS,
  maxExponentDigits: MOST_EXPONENT_DIGITS,
} as const

/** Limits of a batch; `answerBytes`: of the texts and metadata in the response. */
export const batch = {
  operations: 100,
  maxBytes: 1_048_576,
  answerBytes: 1_048_576,
} as const

/** Limits of a request that stores vectors: its bytes suffice for all of them in Base64. */
export const vectors = { perRequest: 100, maxBytes: 2_359_296 } as const

/**
 * Concurrency; further requests wait. Per agent, one export and one import at a time: another is
 * refused.
 */
export const atOnce = {
  exports: { perAgent: 1, perAddress: 1, inAll: 4 },
  imports: { perAgent: 1, perAddress: 1, inAll: 4 },
  searches: { perAddress: 1, inAll: 4 },
} as const

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600

/**
 * The limits of an IPv6 /48, which is one site with many people, as a multiple of one address's.
 */
const ADDRESSES_OF_A_NETWORK = 5

/** The births of this machine's own programs, as a multiple of one address's. */
const TIMES_ON_LOOPBACK = 100

/** Wrong passwords for one account from all networks, as a multiple of one network's. */
const NETWORKS_OF_STRANGERS = 50

export type BudgetName =
  | 'reads'
  | 'writes'
  | 'exports'
  | 'controls'
  | 'births'
  | 'oauth'
  | 'registrations'

interface Rate extends BudgetPolicy {
  /** Who has a budget of their own: the agent with its named keys, and its operator. */
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

const rate = (name: string, quota: number, windowSeconds: number, per: Rate['per']): Rate => ({
  name,
  quota,
  windowSeconds,
  per,
})

const agentRate = (
  name: string,
  perMinute: number,
  ...spentBy: ('agent' | 'operator')[]
): Rate => ({
  ...rate(name, perMinute, MINUTE_SECONDS, 'agent'),
  spentBy,
})

/** A proxy on this machine may add no header: whoever is reached by others has no such limit. */
const isPublic = ({ PUBLIC_URL }: Config): boolean =>
  PUBLIC_URL !== undefined && !isLoopback(new URL(PUBLIC_URL).hostname)

const ratesOf = (config: Config) => ({
  reads: agentRate('reads', config.READS_PER_MINUTE, 'agent', 'operator'),
  writes: agentRate('writes', config.WRITES_PER_MINUTE, 'agent', 'operator'),
  exports: agentRate('exports', config.EXPORTS_PER_MINUTE, 'agent', 'operator'),
  controls: agentRate('controls', config.CONTROLS_PER_MINUTE, 'operator'),
  births: rate('births', config.BIRTHS_PER_HOUR_PER_ADDRESS, HOUR_SECONDS, 'address'),
  birthsPerNetwork: rate(
    'births-per-network',
    config.BIRTHS_PER_HOUR_PER_ADDRESS * ADDRESSES_OF_A_NETWORK,
    HOUR_SECONDS,
    'network',
  ),
  birthsOnLoopback: rate(
    'births-on-loopback',
    config.BIRTHS_PER_HOUR_PER_ADDRESS * (isPublic(config) ? 1 : TIMES_ON_LOOPBACK),
    HOUR_SECONDS,
    'address',
  ),
  birthsInAll: rate('births-in-all', config.BIRTHS_PER_HOUR, HOUR_SECONDS, 'service'),
  oauth: rate('oauth', config.OAUTH_PER_MINUTE, MINUTE_SECONDS, 'address'),
  clientDocuments: rate(
    'client-documents',
    config.CLIENT_DOCUMENTS_PER_MINUTE,
    MINUTE_SECONDS,
    'address',
  ),
  registrations: rate(
    'registrations',
    config.REGISTRATIONS_PER_HOUR_PER_ADDRESS,
    HOUR_SECONDS,
    'address',
  ),
  registrationsPerNetwork: rate(
    'registrations-per-network',
    config.REGISTRATIONS_PER_HOUR_PER_ADDRESS * ADDRESSES_OF_A_NETWORK,
    HOUR_SECONDS,
    'network',
  ),
  registrationsInAll: rate(
    'registrations-in-all',
    config.REGISTRATIONS_PER_HOUR,
    HOUR_SECONDS,
    'service',
  ),
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
})

export type HomeLimits = ReturnType<typeof homeLimits>

export const homeLimits = (config: Config) => ({
  fields: { ...fields, body },
  /** 0 means no limit, here and in every quota below. */
  memoriesPerAgent: config.MEMORIES_PER_AGENT,
  /**
   * UTF-8 bytes of texts and metadata, including earlier versions, the oldest of which are pruned,
   * and bytes of vectors.
   */
  bytesPerAgent: config.BYTES_PER_AGENT,
  /** Of each memory, including the current one. */
  versionsPerMemory: config.VERSIONS_PER_MEMORY,
  eventsPerAgent: config.EVENTS_PER_AGENT,
  batch,
  /** For so long, and for so many events of its home, a repeated append is known. */
  appendKeys: { seconds: KNOWN_MS / 1_000, events: KNOWN_EVENTS },
  vectors,
  /** UTF-8 bytes of an export that is imported. */
  importBytes: config.EXPORT_BYTES,
  /** Named keys. */
  keysPerAgent: KEYS_PER_AGENT,
  passkeysPerAccount: PASSKEYS_PER_ACCOUNT,
  /** One more ends the oldest. */
  sessionsPerAccount: SESSIONS_PER_ACCOUNT,
  /** Concurrent, per client address, like the next three. */
  connectionsPerAddress: config.CONNECTIONS_PER_ADDRESS,
  streamsPerAddress: config.STREAMS_PER_ADDRESS,
  /** Exports and imports in progress, and UTF-8 bytes of those that wait. */
  transfersPerAddress: PLACES,
  transferBytesPerAddress: config.EXPORT_BYTES,
  atOnce,
  rates: ratesOf(config),
})
