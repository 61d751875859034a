/** Checks of a PostgreSQL server: at the start, and with its database by `agent-home doctor`. */

import type { Examined, Finding } from '../../port/check.ts'
import { StoreRefused, StoreUnavailable } from '../../port/errors.ts'
import { schemaFinding, schemaOf, type Versions } from '../../schema.ts'
import { openConnections, statement, unprepared } from './connections.ts'
import { isOfServer } from './faults.ts'
import { hostsOf, locationOf } from './hosts.ts'
import type { Ask } from './session.ts'

const OLDEST_VERSION = 140_000

interface Settings {
  version: string
  /** Null: the server has no such setting, as another engine that speaks the protocol. */
  version_number: string | null
  fsync: string | null
  full_page_writes: string | null
  synchronous_commit: string | null
}

const settings = statement<Settings>(`
  SELECT version() AS version,
    current_setting('server_version_num', true) AS version_number,
    current_setting('fsync', true) AS fsync,
    current_setting('full_page_writes', true) AS full_page_writes,
    current_setting('synchronous_commit', true) AS synchronous_commit`)

function refuse(found: Settings): void {
  if (found.version_number !== null && Number(found.version_number) < OLDEST_VERSION) {
    throw new StoreRefused(`${found.version} is too old. Run PostgreSQL 14 or newer.`)
  }
  if (found.fsync === 'off') {
    throw new StoreRefused(
      'The PostgreSQL server runs with fsync = off: a crash of its machine can destroy everything. Set fsync = on in its configuration.',
    )
  }
  if (found.synchronous_commit === 'off') {
    throw new StoreRefused(
      "synchronous_commit is off: writes that were answered can be lost. Set it on: ALTER ROLE … SET synchronous_commit = 'on'.",
    )
  }
}

const warningsOf = ({ full_page_writes, synchronous_commit }: Settings): string[] => [
  ...(full_page_writes === 'off'
    ? [
        'full_page_writes is off: safe only on a file system that never tears a page (ZFS). Set it on otherwise.',
      ]
    : []),
  ...(synchronous_commit === 'local'
    ? [
        'synchronous_commit is local: a fail-over to a standby can lose writes that were answered. Set it on.',
      ]
    : []),
]

interface Role {
  readonly role: string
  /** Null: it may use none in its search path. */
  readonly schema: string | null
  readonly may_create: boolean | null
  /** Null: the server has no such setting. */
  readonly read_only: string | null
  /** Null before the first start. */
  readonly has_schema: string | null
  readonly encoding: string | null
  /** What is there under the names of our tables. */
  readonly taken: readonly string[]
  /** Tables of ours that it may not read and write. */
  readonly closed: readonly string[]
}

const role = statement<Role>(`
  SELECT current_user::TEXT AS role, current_schema()::TEXT AS schema,
    has_schema_privilege(current_schema()::TEXT, 'CREATE') AS may_create,
    current_setting('transaction_read_only', true) AS read_only,
    to_regclass('schema_version')::TEXT AS has_schema,
    current_setting('server_encoding', true) AS encoding,
    ARRAY(
      SELECT relname::TEXT FROM pg_class
      WHERE relkind NOT IN ('i', 'I', 't', 'c') AND relname = ANY($1::TEXT[]) AND pg_table_is_visible(oid)
      ORDER BY relname
    ) AS taken,
    ARRAY(
      SELECT relname::TEXT FROM pg_class
      WHERE relkind IN ('r', 'p') AND relname = ANY($1::TEXT[]) AND pg_table_is_visible(oid)
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ORDER BY relname
    ) AS closed`)

const tablesOf = (schema: string): string[] =>
  Array.from(schema.matchAll(/TABLE IF NOT EXISTS (\w+)/g), ([, name = '']) => name)

const OWN_IT = 'Make it the owner of the database: ALTER DATABASE … OWNER TO'

/** Tables of another program, which the start would take for its own. */
function refuseForeign({ has_schema, taken }: Role): void {
  const isOurs = has_schema !== null && taken.includes('agents')
  if (isOurs || taken.length === 0) return
  throw new StoreRefused(
    `The database is of another program: it has tables of its own under names that Agent Home needs (${taken.join(', ')}). Give Agent Home an empty database.`,
  )
}

function encodingFault({ encoding }: Pick<Role, 'encoding'>): string | undefined {
  if (encoding === null || encoding === 'UTF8') return undefined
  return `The encoding of the database is ${encoding}, which cannot hold every text. Use a database with UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`
}

function roleFault(found: Role): string | undefined {
  const { role, schema, may_create, read_only, has_schema, closed } = found
  if (read_only === 'on') {
    return `For the role "${role}" default_transaction_read_only is on. Set it off: ALTER ROLE … SET default_transaction_read_only = 'off'.`
  }
  if (closed.length > 0) {
    return `The role "${role}" may not read and write all tables of the database (${closed.join(', ')}). Use the role that owns them.`
  }
  if (has_schema !== null) return undefined
  if (schema === null) {
    return `The role "${role}" may use no schema of its search path. ${OWN_IT} "${role}".`
  }
  return may_create
    ? undefined
    : `The role "${role}" may not create tables in the schema "${schema}". ${OWN_IT} "${role}".`
}

/** Throws StoreRefused if the role cannot create the schema, or not use the one that is there. */
async function checkRole(ask: Ask): Promise<Role> {
  const [found] = await ask(role, tablesOf(schemaOf('postgres')))
  if (!found) throw new StoreRefused('The database does not tell its role.')
  refuseForeign(found)
  const fault = roleFault(found)
  if (fault) throw new StoreRefused(fault)
  return found
}

/** Throws StoreRefused; returns warnings as sentences. */
async function checkSettings(ask: Ask): Promise<string[]> {
  const [found] = await ask(settings)
  if (!found) throw new StoreRefused('The database does not tell its settings.')
  refuse(found)
  return warningsOf(found)
}

/** Throws StoreRefused; returns warnings as sentences. */
export async function checkServer(ask: Ask): Promise<string[]> {
  const warnings = await checkSettings(ask)
  const found = await checkRole(ask)
  const fault = encodingFault(found)
  if (fault === undefined) return warnings
  if (found.has_schema === null) throw new StoreRefused(fault)
  return [...warnings, fault]
}

/** Explains why a database cannot be used: the start and `agent-home doctor` say the same. */
export async function explaining<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreUnavailable) && !isOfServer(error)) throw error
    const { message } = error.cause instanceof Error ? error.cause : error
    const place = locationOf(databaseUrl)
    throw new StoreRefused(
      `${place} cannot be used: ${message}. Check its URL, and that the server runs and lets this machine in.`,
      { cause: error },
    )
  }
}

interface Server {
  readonly version: string
  readonly encoding: string
  readonly now: number
  /** Null before the first start. */
  readonly has_schema: string | null
}

const server = statement<Server>(`
  SELECT current_setting('server_version') AS version,
    current_setting('server_encoding') AS encoding,
    (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT AS now,
    to_regclass('schema_version')::TEXT AS has_schema`)

/** The table of 1.0.0 has no `oldest`. */
const schemaVersion = unprepared<Pick<Versions, 'version'> & Partial<Versions>>(
  'SELECT * FROM schema_version WHERE id = 1',
)

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '')

/** What stops a start is wrong. */
async function unlessRefused(about: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error
    return [{ about, state: 'wrong', says: withoutStop(error.message) }]
  }
}

const durability = (ask: Ask): Promise<Finding[]> =>
  unlessRefused('durability', async () => {
    const about = 'durability'
    const warnings = await checkSettings(ask)
    if (warnings.length === 0) return [{ about, state: 'good', says: 'each commit is synced' }]
    return warnings.map((says) => ({ about, state: 'odd', says: withoutStop(says) }))
  })

/** The schema is read only by a role that may. */
const roleAndSchema = (ask: Ask, found: Server): Promise<Finding[]> =>
  unlessRefused('role', async () => {
    const { role } = await checkRole(ask)
    const says = `"${role}" may create and change its tables`
    return [{ about: 'role', state: 'good', says }, await schemaIn(ask, found)]
  })

/** What is kept already stays readable, so it stops the first start alone. */
function encodingOf(found: Server): Finding {
  const about = 'encoding'
  const fault = encodingFault(found)
  if (fault === undefined) return { about, state: 'good', says: found.encoding }
  return { about, state: found.has_schema === null ? 'wrong' : 'odd', says: withoutStop(fault) }
}

const SKEW_MS = 5_000

function clockOf({ now: there }: Server, here: number): Finding {
  const apart = Math.round(Math.abs(there - here) / 1_000)
  const says = `the server’s and this one are ${apart} s apart`
  const advice = 'Set both, and have them kept (NTP).'
  return Math.abs(there - here) < SKEW_MS
    ? { about: 'clock', state: 'good', says }
    : { about: 'clock', state: 'wrong', says, advice }
}

async function schemaIn(ask: Ask, { has_schema }: Server): Promise<Finding> {
  const about = 'schema'
  const [found] = has_schema === null ? [] : await ask(schemaVersion)
  if (!found)
    return { about, state: 'odd', says: 'the database is empty: the first start fills it' }
  return schemaFinding({ oldest: found.version, ...found })
}

async function checkDatabase(ask: Ask, now: number): Promise<Finding[]> {
  const [found] = await ask(server)
  if (!found) return []
  return [
    { about: 'PostgreSQL', state: 'good', says: found.version },
    ...(await durability(ask)),
    encodingOf(found),
    clockOf(found, now),
    ...(await roleAndSchema(ask, found)),
  ]
}

export function examineServer({ databaseUrl, now, timers }: Examined): Promise<Finding[]> {
  return explaining(databaseUrl, async () => {
    const connections = openConnections(hostsOf(databaseUrl), 1, 'agent-home doctor', { timers })
    try {
      const found = await checkDatabase(connections.read, now)
      const says = `${locationOf(databaseUrl)} answers`
      return [{ about: 'database', state: 'good', says }, ...found]
    } finally {
      await connections.close()
    }
  })
}
