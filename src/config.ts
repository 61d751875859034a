/** Environment -> frozen Config: every setting of the service. */
import { BlockList } from 'node:net'
import { z } from 'zod'
import {
  type Environment,
  httpOrigin,
  invalidConfig,
  NO_ADDRESS,
  processEnvironment,
} from './environment.ts'
import type { StoreBounds } from './store/port/store.ts'

const flag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .transform((v) => v === 'true' || v === '1')

/** A count; 0 means no limit. */
const count = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number from 0 to 999999999')
    .transform(Number)
    .default(fallback)

const MIB = 1_048_576

/** 0 means no limit. */
const bytes = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number of bytes, of at most 15 digits')
    .transform(Number)
    .default(fallback)

const seconds = (least: 0 | 1, fallback: number) =>
  z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number of seconds, of at most 4 digits')
    .transform(Number)
    .refine((v) => v >= least, 'must be at least 1 second')
    .default(fallback)

const list = z.string().transform((v) =>
  v
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean),
)

const origins = list.transform((items, context) =>
  items.map((item) => {
    const found = httpOrigin(item)
    if (!found) context.addIssue(`"${item}" is not an http or https origin`)
    return found ?? ''
  }),
)

/** `isIP` would compile its pattern for IPv6, 4 ms of each start. */
const addSubnet = (set: BlockList, cidr: string): boolean => {
  const [address = '', bits] = cidr.split('/')
  const [family, most] = address.includes(':') ? (['ipv6', 128] as const) : (['ipv4', 32] as const)
  if (!/^\d*$/.test(bits ?? '')) return false
  try {
    set.addSubnet(address, bits === undefined ? most : Number(bits), family)
    return true
  } catch {
    return false
  }
}

const subnets = list.transform((items, context) => {
  const set = new BlockList()
  for (const item of items) {
    if (!addSubnet(set, item)) context.addIssue(`"${item}" is not an IP address or CIDR range`)
  }
  return set
})

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const schema = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((v) => v <= 65_535, 'must be at most 65535')
    .default(8787),
  DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, 'must be sqlite:<path> or postgres://…')
    .default('sqlite:./data/home.db'),
  PUBLIC_URL: z
    .string()
    .refine((v) => httpOrigin(v) !== undefined, NO_ADDRESS)
    .refine(
      (v) =>
        httpOrigin(v) === undefined || URL.parse(v)?.href.replace(/\/+$/, '') === httpOrigin(v),
      'must be scheme, host and port alone: the service is at the root of its origin',
    )
    .transform((v) => v.replace(/\/+$/, ''))
    .optional(),
  SECURITY_CONTACT: z
    .string()
    .regex(/^(mailto:|https:\/\/|tel:)\S+$/, 'must be a mailto:, https: or tel: address')
    .optional(),
  ALLOWED_ORIGINS: origins.prefault(''),
  TRUSTED_PROXIES: subnets.prefault(''),
  METRICS_FROM: subnets.prefault('127.0.0.0/8,::1'),
  HOME_ENABLED: flag.prefault('true'),
  BIRTHS_ENABLED: flag.prefault('true'),
  LOG_LEVEL: z.enum(levels, `must be one of ${levels.join(', ')}`).default('info'),
  MEMORIES_PER_AGENT: count(10_000),
  BYTES_PER_AGENT: bytes(64 * MIB).refine(
    (v) => v === 0 || v >= MIB,
    `must be 0, or at least ${MIB}: room for some memories`,
  ),
  VERSIONS_PER_MEMORY: count(50),
  EVENTS_PER_AGENT: count(10_000),
  READS_PER_MINUTE: count(6_000),
  WRITES_PER_MINUTE: count(6_000),
  EXPORTS_PER_MINUTE: count(10),
  CONTROLS_PER_MINUTE: count(10),
  BIRTHS_PER_HOUR_PER_ADDRESS: count(10),
  BIRTHS_PER_HOUR: count(1_000),
  OAUTH_PER_MINUTE: count(300),
  CLIENT_DOCUMENTS_PER_MINUTE: count(30),
  REGISTRATIONS_PER_HOUR_PER_ADDRESS: count(60),
  REGISTRATIONS_PER_HOUR: count(1_000),
  FAILURES_PER_MINUTE: count(60),
  SIGN_IN_FAILURES_PER_HOUR: count(20),
  SIGN_INS_PER_MINUTE: count(10),
  FEED_CAPACITY: count(1_000_000),
  EXPORT_BYTES: bytes(512 * MIB),
  CONNECTIONS_PER_ADDRESS: count(256),
  STREAMS_PER_ADDRESS: count(32),
  FEED_BYTES: bytes(256 * MIB).refine(
    (v) => v === 0 || v >= MIB,
    `must be 0, or at least ${MIB}: more than one arrival`,
  ),
  SEARCH_CACHE: bytes(128 * MIB),
  DISK_RESERVE: bytes(1_024 * MIB),
  IDLE_TIMEOUT: seconds(1, 5),
  DRAIN_DELAY: seconds(0, 0),
})

/** The names are the environment variables' own; docs/configuration.md documents each. */
export type Config = Readonly<z.output<typeof schema>>

/** The environment variables' names. */
export const settings: readonly string[] = Object.keys(schema.shape)

const complain = (issue: z.core.$ZodIssue): string => `${issue.path.join('.')}: ${issue.message}`

/** An empty variable counts as unset. Throws ConfigError with each invalid variable and what it must be. */
export function loadConfig(env: Environment = processEnvironment()): Config {
  const names = settings.filter((name) => env[name])
  const result = schema.safeParse(Object.fromEntries(names.map((name) => [name, env[name]])))
  if (result.success) return Object.freeze(result.data)
  throw invalidConfig(result.error.issues.map(complain))
}

/** The store's limits. */
export const boundsOf = (config: Config): StoreBounds => ({
  home: {
    memories: config.MEMORIES_PER_AGENT,
    bytes: config.BYTES_PER_AGENT,
    versions: config.VERSIONS_PER_MEMORY,
    events: config.EVENTS_PER_AGENT,
  },
  feed: { entries: config.FEED_CAPACITY, bytes: config.FEED_BYTES },
  searchCache: config.SEARCH_CACHE,
  diskReserve: config.DISK_RESERVE,
})

/** A wildcard address is reached at this machine's own. */
const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** The public address, as far as the settings say. */
export function addressOfService({ HOST, PORT, PUBLIC_URL }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL
  const host = EVERYWHERE.has(HOST) ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}
