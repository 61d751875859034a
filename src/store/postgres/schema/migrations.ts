/** Creates the schema of a new database, or migrates from 1.0.0. */
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { SCHEMA, schemaOf, unknownSchema } from '../../schema.ts'
import { checkServer } from '../engine/checks.ts'
import { type Ask, openConnections, statement, unprepared } from '../engine/connections.ts'
import type { Hosts } from '../engine/hosts.ts'
import { upgrade } from './from-1.0.0.ts'

/** The schema version of 1.0.0. */
const RELEASED = 3

/** An arbitrary number; nothing else in the database may use the same advisory lock. */
const LOCK = 4_821_907

const lock = statement(`SELECT pg_advisory_xact_lock(${LOCK})`)

const createVersion = statement(
  'CREATE TABLE IF NOT EXISTS schema_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)',
)

const readVersion = statement<{ version: number }>(
  'SELECT version FROM schema_version WHERE id = 1',
)

const writeVersion = statement(`
  INSERT INTO schema_version (id, version) VALUES (1, $1)
  ON CONFLICT (id) DO UPDATE SET version = excluded.version`)

async function step(ask: Ask, progress: Progress): Promise<void> {
  await ask(lock)
  await ask(createVersion)
  const [found] = await ask(readVersion)
  const version = found?.version ?? 0
  if (version === SCHEMA) return
  if (version === RELEASED) await upgrade(ask, progress)
  else if (version === 0) await ask(unprepared(schemaOf('postgres')))
  else throw new StoreRefused(unknownSchema('The database', version))
  await ask(writeVersion, SCHEMA)
}

/** A migration may rewrite a large table while other starting nodes wait for it. */
const PATIENCE_MS = 600_000

/**
 * Checks the server and migrates its database, safely with several starting nodes. Returns
 * warnings. Throws StoreRefused if the schema is newer or unknown.
 */
export async function prepareServer(hosts: Hosts, progress: Progress): Promise<string[]> {
  const connections = openConnections(hosts, 1, 'agent-home start', { statementMs: PATIENCE_MS })
  try {
    const warnings = await checkServer(connections.read)
    await connections.transact((ask) => step(ask, progress))
    return warnings
  } finally {
    await connections.close()
  }
}
