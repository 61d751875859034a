/**
 * Verifies a live database: every check reads the same snapshot, in one read-only transaction without
 * limits of time, so it works through a transaction pooler too.
 */
import type { Timers } from '../../../timers.ts'
import {
  checkContents,
  gatherFaults,
  type HomeRow,
  type LogRow,
  PINNED,
} from '../../check/contents.ts'
import type { Log, Promised } from '../../check/log-promises.ts'
import { countsOf, faultOf, promisedOf, unprovenIn, violationsOf } from '../../check/promises.ts'
import type { Checking, Verified, Violation } from '../../port/check.ts'
import { StoreRefused } from '../../port/errors.ts'
import { SCHEMA, schemaOf, unknownSchema, type Versions } from '../../schema.ts'
import { wordsToFind } from '../../words.ts'
import { explaining } from '../engine/checks.ts'
import { openConnections, statement, unprepared } from '../engine/connections.ts'
import { breaksConnection, translate } from '../engine/faults.ts'
import { hostsOf, locationOf } from '../engine/hosts.ts'
import { run } from '../engine/run.ts'
import type { Ask } from '../engine/session.ts'
import { broughtAsItWas } from '../memories/brought.ts'
import { EVENT, EVENT_COLUMNS } from '../memories/event-reads.ts'
import { ACCOUNT_OF_AGENT, isSharded } from '../sharded.ts'
import { SNAPSHOT } from '../transfer/export.ts'

/** Earlier versions that an import brought before schema 27 are below zero, and are no events. */
const KIND = `CASE WHEN n > 0 THEN ${EVENT.type} END AS event,
  CASE WHEN kept THEN operation END AS operation`

const LOG: Log = {
  rows: `(SELECT agent_id, n, n AS id, ${KIND}, key, memory_id, version, previous, created_at,
      updated_at, size, text, renamed_from, content, author, happened_at, made_as,
      CASE WHEN ${broughtAsItWas('log')} THEN coalesce(event_author, author) END AS event_author
    FROM log)`,
  at: (l, of, place) => `${l}.agent_id = ${of}.agent_id AND ${l}.n = ${of}.${place}`,
}

interface Reference {
  readonly child: string
  readonly column: string
  readonly parent: string
  readonly id: string
}

const references = statement<Reference>(`
  SELECT c.conrelid::REGCLASS::TEXT AS child, quote_ident(a.attname) AS "column",
    c.confrelid::REGCLASS::TEXT AS parent, quote_ident(p.attname) AS id
  FROM pg_constraint c
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
  JOIN pg_attribute p ON p.attrelid = c.confrelid AND p.attnum = c.confkey[1]
  WHERE c.contype = 'f' AND pg_table_is_visible(c.conrelid) ORDER BY c.conname`)

/** The server checks references only of what is written while its triggers are enabled. */
async function checkReferences(ask: Ask): Promise<readonly Violation[]> {
  const orphans = (await ask(references)).map(
    ({ child, column, parent, id }) => `SELECT '${child} ' || r.${column} FROM ${child} r
      WHERE r.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${parent} p WHERE p.${id} = r.${column})`,
  )
  const fault = 'a row refers to one that is not there'
  return run(ask, violationsOf({ fault, wrong: orphans.join(' UNION ALL ') }))
}

/** What schema.sql creates, by the names that PostgreSQL gives it; columns with their types. */
function partsIn(schema: string) {
  const names = Array.from(
    schema.matchAll(/(?:INDEX IF NOT EXISTS|FUNCTION) (\w+)/g),
    ([, name = '']) => name,
  )
  const tables: string[] = []
  const columns: string[] = []
  for (const [, table = '', body = ''] of schema.matchAll(
    /TABLE IF NOT EXISTS (\w+) \(([^;]+);/g,
  )) {
    tables.push(table)
    if (body.includes('PRIMARY KEY')) names.push(`${table}_pkey`)
    for (const [, column, type, rest = ''] of body.matchAll(/(\w+) ([A-Z]{4,})\b(.*)/g)) {
      columns.push(`${table}.${column} ${type}`)
      if (rest.includes('UNIQUE')) names.push(`${table}_${column}_key`)
      if (rest.includes('REFERENCES')) names.push(`${table}_${column}_fkey`)
    }
  }
  return { tables, columns, names }
}

const partsFound = statement<{ part: string }>(`
  SELECT c.relname || '.' || a.attname || ' ' || upper(format_type(a.atttypid, a.atttypmod)) AS part
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND c.relname = ANY($1::TEXT[])
  UNION ALL
  SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indisvalid AND pg_table_is_visible(c.oid) AND c.relname = ANY($2::TEXT[])
  UNION ALL
  SELECT conname FROM pg_constraint
  WHERE contype = 'f' AND pg_table_is_visible(conrelid) AND conname = ANY($2::TEXT[])
  UNION ALL
  SELECT proname FROM pg_proc WHERE pg_function_is_visible(oid) AND proname = ANY($2::TEXT[])`)

/** Further tables, indexes and functions are the database owner's affair. */
async function checkSchema(ask: Ask): Promise<readonly Violation[]> {
  const { tables, columns, names } = partsIn(schemaOf('postgres'))
  const rows = await ask(partsFound, tables, names)
  const found = new Set(rows.map(({ part }) => part))
  const made = new Set([...columns, ...names])
  if (await isSharded(ask)) made.delete(ACCOUNT_OF_AGENT)
  const differing = found.symmetricDifference(made)
  const parts = new Set([...differing].map((part) => part.replace(/ .*/, '')))
  return faultOf('the schema is not the one that this program makes', parts)
}

/** What only this engine stores. */
const ownPromises: readonly Promised[] = [
  {
    fault: 'an agent belongs to an account that is not there',
    wrong: `SELECT agent_id FROM agents
      WHERE account_id IS NOT NULL AND account_id NOT IN (SELECT id FROM accounts)`,
  },
  {
    fault: 'a row of the log cannot be reached',
    wrong: `SELECT l.agent_id || ' n=' || l.n FROM log l JOIN homes h ON h.agent_id = l.agent_id
      WHERE NOT l.kept AND l.n < h.first_event`,
  },
  {
    fault: 'an entry is filed under a label that it does not bear, or not under one that it does',
    wrong: `SELECT l.id || ' ' || l.label FROM entry_labels l
      WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.id = l.id AND e.feed = l.feed)`,
  },
]

/** Texts and homes have a size that is bounded, and so has a page of them. */
const PAGE = 200

/** Pages of rows after `start`, until there are no more. */
async function* pagesOf<Row, After>(
  start: After,
  read: (after: After) => Promise<Row[]>,
  placeOf: (row: Row) => After,
): AsyncGenerator<Row[]> {
  for (let after = start; ; ) {
    const rows = await read(after)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = placeOf(last)
  }
}

const homesAfter = statement<HomeRow>(`
  SELECT agent_id, first_event AS first, last_event AS last, head, base FROM homes
  WHERE agent_id > $1 ORDER BY agent_id LIMIT ${PAGE}`)

const rowsAfter = statement<LogRow>(`
  SELECT agent_id, ${EVENT_COLUMNS}, l.author AS writer, ${KIND}, salt, metadata, text, bytes, size,
    ${PINNED} AS pinned
  FROM log l WHERE (agent_id, n) > ($1, $2::BIGINT) AND agent_id <= $3
  ORDER BY agent_id, n LIMIT ${PAGE}`)

/** Some homes at a time, each with its whole log, in the order of its index. */
export async function checkLog(ask: Ask): Promise<readonly Violation[]> {
  const { fault, all } = gatherFaults()
  const homePages = pagesOf(
    '',
    (id) => ask(homesAfter, id),
    ({ agent_id }) => agent_id,
  )
  for await (const homes of homePages) {
    const contents = checkContents(homes, fault)
    const end = homes.at(-1)?.agent_id
    const start = [homes[0]?.agent_id ?? '', Number.MIN_SAFE_INTEGER] as const
    const rows = pagesOf(
      start,
      ([agentId, n]) => ask(rowsAfter, agentId, n, end),
      ({ agent_id, id }) => [agent_id, id] as const,
    )
    for await (const page of rows) for (const row of page) contents.meet(row)
    contents.end()
  }
  return all()
}

const entriesAfter = statement<{ id: string; text: string; words: string[] }>(`
  SELECT id, text, tsvector_to_array(words) AS words FROM entries WHERE id > $1
  ORDER BY id LIMIT ${PAGE}`)

async function checkWords(ask: Ask): Promise<readonly Violation[]> {
  const wrong: string[] = []
  for await (const page of pagesOf(
    '',
    (id) => ask(entriesAfter, id),
    ({ id }) => id,
  )) {
    for (const { id, text, words } of page) {
      if (new Set(words).symmetricDifference(new Set(wordsToFind(text))).size > 0) wrong.push(id)
    }
  }
  return faultOf(
    'an entry with a text is not in the index of words, or one is that is not there',
    wrong,
  )
}

type Check = (ask: Ask) => Promise<readonly Violation[]>

const keeps =
  (promised: Promised): Check =>
  (ask) =>
    run(ask, violationsOf(promised))

export const promises: readonly Promised[] = [...promisedOf(LOG), ...ownPromises]

const always: readonly Check[] = [checkReferences]

/** Of the rows, which a transaction that is not committed can have changed. */
export const checksOfRows: readonly Check[] = [...promises.map(keeps), checkWords, checkLog]

const ofThisProgram: readonly Check[] = [...always, checkSchema, ...checksOfRows]

const savepoint = unprepared('SAVEPOINT before_check')
const rollBack = unprepared('ROLLBACK TO before_check')

/** The database may be too damaged to query. */
async function attempt(check: Check, ask: Ask): Promise<readonly Violation[]> {
  await ask(savepoint)
  try {
    return await check(ask)
  } catch (error) {
    if (breaksConnection(error)) throw error
    await ask(rollBack)
    return faultOf('the data cannot be read', [(error as Error).message])
  }
}

const tableOfVersion = statement<{ there: boolean }>(
  "SELECT to_regclass('schema_version') IS NOT NULL AS there",
)

/** The table of 1.0.0 has no `oldest`. */
const version = unprepared<Pick<Versions, 'version'> & Partial<Versions>>(
  'SELECT * FROM schema_version WHERE id = 1',
)

async function schemaIn(ask: Ask, place: string): Promise<number> {
  const [table] = await ask(tableOfVersion)
  const [row] = table?.there ? await ask(version) : []
  if (!row) throw new StoreRefused(`${place} is not a database of Agent Home.`)
  const versions = { oldest: row.version, ...row }
  if (versions.oldest > SCHEMA) throw new StoreRefused(unknownSchema(place, versions))
  return row.version
}

const size = statement<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes')

async function verify(ask: Ask, place: string, checking: Checking): Promise<Verified> {
  const schema = { found: await schemaIn(ask, place), known: SCHEMA }
  const checks = schema.found === SCHEMA ? ofThisProgram : always
  const faults: Violation[] = []
  for (const [done, check] of checks.entries()) {
    checking(done, checks.length)
    faults.push(...(await attempt(check, ask)))
  }
  checking(checks.length, checks.length)
  const isCountable = schema.found === SCHEMA && faults.length === 0
  const counts = isCountable ? await run(ask, countsOf(LOG)) : {}
  const unproven = isCountable ? await run(ask, unprovenIn(LOG)) : 0
  const [found] = await ask(size)
  return { schema, bytes: found?.bytes ?? 0, checks: checks.length, counts, unproven, faults }
}

/** Throws StoreRefused: not a database of ours, or a newer schema, or out of reach. */
export const verifyServer = (
  databaseUrl: string,
  timers: Timers,
  checking: Checking = () => {},
): Promise<Verified> => explaining(databaseUrl, () => verifyAt(databaseUrl, timers, checking))

async function verifyAt(
  databaseUrl: string,
  timers: Timers,
  checking: Checking,
): Promise<Verified> {
  const connections = openConnections(hostsOf(databaseUrl), 1, 'agent-home verify', {
    timers,
    statementMs: 0,
  })
  try {
    const session = await connections.acquire()
    try {
      await session.begin(SNAPSHOT)
      return await verify(session.ask, locationOf(databaseUrl), checking)
    } catch (error) {
      throw translate(error, false)
    } finally {
      session.release(true)
    }
  } finally {
    await connections.close()
  }
}
