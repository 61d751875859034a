/** Checks of a PostgreSQL server: at the start, and with its database by `agent-home doctor`. */
import { StoreRefused, StoreUnavailable } from '../../port/errors.ts'
import type { Examined, Finding } from '../../port/rest.ts'
import { schemaFinding, type Versions } from '../../schema.ts'
import { type Ask, openConnections, statement, unprepared } from './connections.ts'
import { hostsOf, locationOf } from './hosts.ts'

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

/** Throws StoreRefused; returns warnings as sentences. */
export async function checkServer(ask: Ask): Promise<string[]> {
  const [found] = await ask(settings)
  if (!found) throw new StoreRefused('The database does not tell its settings.')
  refuse(found)
  return warningsOf(found)
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

async function durability(ask: Ask): Promise<Finding[]> {
  const about = 'durability'
  try {
    const warnings = await checkServer(ask)
    if (warnings.length === 0) return [{ about, state: 'good', says: 'each commit is synced' }]
    return warnings.map((says) => ({ about, state: 'odd', says: says.replace(/\.$/, '') }))
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error
    return [{ about, state: 'wrong', says: error.message.replace(/\.$/, '') }]
  }
}

function encodingOf({ encoding }: Server): Finding {
  const about = 'encoding'
  if (encoding === 'UTF8') return { about, state: 'good', says: encoding }
  const advice = "Create the database again: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
  return { about, state: 'wrong', says: `${encoding}, which cannot hold every text`, advice }
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

async function schemaOf(ask: Ask, { has_schema }: Server): Promise<Finding> {
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
    await schemaOf(ask, found),
  ]
}

export async function examineServer({ databaseUrl, now }: Examined): Promise<Finding[]> {
  const place = locationOf(databaseUrl)
  const connections = openConnections(hostsOf(databaseUrl), 1, 'agent-home doctor')
  try {
    const found = await checkDatabase(connections.read, now)
    return [{ about: 'database', state: 'good', says: `${place} answers` }, ...found]
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    const reason = error.cause instanceof Error ? error.cause.message : error.message
    const says = `${place} does not answer: ${reason}`
    const advice = 'Check DATABASE_URL, and that the server runs and lets this machine in.'
    return [{ about: 'database', state: 'wrong', says, advice }]
  } finally {
    await connections.close()
  }
}
