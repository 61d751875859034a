/**
 * Creates the schema of a new database, and migrates that of an older program: in slices, each a
 * short transaction that records how far it came. A start that ends in between is continued by the
 * next, and nodes that start together take turns.
 */
import type { Timers } from '../../../timers.ts'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { isUsable, OLDEST, SCHEMA, schemaOf, unknownSchema, type Versions } from '../../schema.ts'
import { checkServer } from '../engine/checks.ts'
import { openConnections, statement, unprepared } from '../engine/connections.ts'
import type { Hosts } from '../engine/hosts.ts'
import type { Ask } from '../engine/session.ts'
import { takeSlice } from './from-1.0.0.ts'

interface Step {
  readonly from: number
  readonly to: number
  /** The oldest program that may use the database from the beginning of the step; undefined: as before. */
  readonly oldest?: number
  /** Does a slice, from where the last one ended (''), and returns where it ended; undefined: it was the last. */
  readonly slice: (ask: Ask, place: string, progress: Progress) => Promise<string | undefined>
}

const fromTwo = unprepared(`
  DELETE FROM log l USING staged_imports s
    WHERE l.agent_id = s.agent_id AND l.n >= s.place AND l.n < s.place + 1000000000;
  DROP TABLE staged_imports;
  DROP FUNCTION find_kindred(TEXT[], BIGINT);
  ALTER TABLE credentials ADD COLUMN woke_at BIGINT, ADD COLUMN woke_event BIGINT;
  ALTER TABLE log ADD COLUMN made_as TEXT COLLATE "C";
  ${schemaOf('postgres')}`)

const STEPS: readonly Step[] = [
  // 1.0.0
  { from: 3, to: 28, oldest: 28, slice: takeSlice },
  {
    // 2.0.0. What an import had staged when its process ended goes.
    from: 26,
    to: 28,
    oldest: 28,
    async slice(ask) {
      await ask(fromTwo)
      return undefined
    },
  },
]

/** An arbitrary number; nothing else in the database may use the same advisory lock. */
const LOCK = 4_821_907

const lock = statement(`SELECT pg_advisory_xact_lock(${LOCK})`)

const findTable = statement<{ found: string | null }>(
  "SELECT to_regclass('schema_version')::TEXT AS found",
)

/** The table of 1.0.0 has neither `oldest` nor `place`. */
type VersionRow = Pick<Versions, 'version'> & Partial<Versions & { place: string | null }>

const readVersion = unprepared<VersionRow>('SELECT * FROM schema_version WHERE id = 1')

const writeVersion = statement(`
  INSERT INTO schema_version (id, version, oldest, place) VALUES (1, $1, $2, $3)
  ON CONFLICT (id) DO UPDATE
  SET version = excluded.version, oldest = excluded.oldest, place = excluded.place`)

const announce = statement('UPDATE schema_version SET oldest = $1 WHERE id = 1')

/** Of other roles' sessions only their database is told. */
const findOthers = statement<{ connected: boolean }>(`
  SELECT EXISTS (
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
      AND coalesce(backend_type, 'client backend') = 'client backend' AND pid <> pg_backend_pid()
  ) AS connected`)

async function findVersion(ask: Ask): Promise<VersionRow | undefined> {
  const [table] = await ask(findTable)
  if (!table?.found) return undefined
  const [row] = await ask(readVersion)
  return row
}

type Advance = 'made' | 'done' | 'more' | 'announced'

/**
 * `isNoticed`: nodes of older programs have had the time to stop since they could read that they
 * must.
 */
async function advance(ask: Ask, isNoticed: boolean, progress: Progress): Promise<Advance> {
  await ask(lock)
  const found = await findVersion(ask)
  if (!found) {
    await ask(unprepared(schemaOf('postgres')))
    await ask(writeVersion, SCHEMA, OLDEST, null)
    return 'made'
  }
  const { version, oldest = version, place = null } = found
  const isWhole = place === null || version > SCHEMA
  if (isUsable({ version, oldest }) && isWhole) return 'done'
  const step = STEPS.find(({ from, to }) => (place === null ? from : to) === version)
  if (!step) throw new StoreRefused(unknownSchema('The database', { version, oldest }))
  // A node of 1.0.0 does not look.
  if (step.oldest && found.oldest && place === null && !isNoticed) {
    await ask(announce, step.oldest)
    return 'announced'
  }
  const next = await step.slice(ask, place ?? '', progress)
  await ask(writeVersion, step.to, step.oldest ?? oldest, next ?? null)
  return 'more'
}

/** A day: no statement takes that long, but an index of a table with many millions of rows takes minutes. */
const PATIENCE_MS = 86_400_000

/** How often a node looks whether it may go on. */
const LOOK_MS = 1_000

/** What a node takes to notice that it must stop, and to finish its requests. Alone, none is waited for. */
const NOTICE_MS = 15_000

/**
 * Whether another node may use the database. One that starts now reads what was announced, and one
 * that runs looks so often that it has a connection, or has one again.
 */
async function isUsed(read: Ask, { pause }: Timers): Promise<boolean> {
  const isConnected = async () => {
    // A role that may not see other sessions waits.
    const [others] = await read(findOthers).catch(() => [{ connected: true }])
    return others?.connected ?? true
  }
  if (await isConnected()) return true
  await pause(2 * LOOK_MS)
  return isConnected()
}

/**
 * Checks the server and migrates its database, safely with several starting nodes. Returns
 * warnings, and whether the database was empty. Throws StoreRefused if the schema is unknown, or too new for this program.
 */
export async function prepareServer(
  hosts: Hosts,
  timers: Timers,
  progress: Progress,
): Promise<{ readonly warnings: string[]; readonly isNew: boolean }> {
  const connections = openConnections(hosts, 1, 'agent-home start', {
    timers,
    statementMs: PATIENCE_MS,
  })
  try {
    const warnings = await checkServer(connections.read)
    let advanced: Advance | undefined
    while (advanced !== 'done' && advanced !== 'made') {
      if (advanced === 'announced' && (await isUsed(connections.read, timers))) {
        await timers.pause(NOTICE_MS)
      }
      const isNoticed = advanced === 'announced'
      advanced = await connections.transact((ask) => advance(ask, isNoticed, progress))
    }
    return { warnings, isNew: advanced === 'made' }
  } finally {
    await connections.close()
  }
}

const readVersions = statement<Versions>('SELECT version, oldest FROM schema_version WHERE id = 1')

/** Looks each second whether a newer program has ended what this one may do, and tells it once. */
export function watchSchema(read: Ask, { every }: Timers) {
  let cancel: (() => void) | undefined

  async function look(tell: (reason: StoreRefused) => void): Promise<void> {
    const [found] = await read(readVersions)
    if (!found || isUsable(found) || !cancel) return
    stop()
    tell(new StoreRefused(unknownSchema('The database', found)))
  }

  function stop(): void {
    cancel?.()
    cancel = undefined
  }

  return {
    whenRefused(tell: (reason: StoreRefused) => void): void {
      // A database that does not answer is asked again.
      cancel = every(LOOK_MS, () => void look(tell).catch(() => {}))
    },
    stop,
  }
}
