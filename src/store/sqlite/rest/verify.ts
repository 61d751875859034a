/** Verifies a database file at rest. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'
import type { Checking, Verified, Violation } from '../../port/rest.ts'
import { SCHEMA } from '../../schema.ts'
import { prepareTuples } from '../engine/connection.ts'
import { migrate } from '../schema/migrations.ts'
import { chainFaults } from './chained.ts'
import { ofHomes, ofLog, ofMemories, ofVectors, ofVersions } from './keeping.ts'
import { ofAgents, ofEntries, type Promised } from './promises.ts'
import { readFileOf } from './still.ts'

/** Places listed per violation. */
const NAMED = 5

const promises: readonly Promised[] = [
  ...ofAgents,
  ...ofMemories,
  ...ofVersions,
  ...ofLog,
  ...ofVectors,
  ...ofHomes,
  ...ofEntries,
]

type Check = (db: DatabaseSync) => Violation | readonly Violation[] | undefined

function faultOf(fault: string, places: Iterable<string>): Violation | undefined {
  const named: string[] = []
  let count = 0
  for (const place of places) {
    if (count++ < NAMED) named.push(place)
  }
  return count > 0 ? { fault, count, places: named } : undefined
}

function* firstColumn(db: DatabaseSync, sql: string): Generator<string> {
  for (const [place] of prepareTuples<[unknown]>(db, sql).iterate()) yield String(place)
}

const isBroken: Check = (db) =>
  faultOf(
    'the file is corrupt',
    firstColumn(db, 'PRAGMA integrity_check').filter((said) => said !== 'ok'),
  )

const isOrphaned: Check = (db) =>
  faultOf('a row refers to one that is not there', firstColumn(db, 'PRAGMA foreign_key_check'))

const SCHEMA_ROWS = `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
  WHERE name NOT LIKE 'sqlite_%'`

/** The schema that the migrations create in an empty database. */
function freshSchema(): Set<string> {
  const db = new DatabaseSync(':memory:')
  migrate(db, ':memory:')
  const rows = new Set(firstColumn(db, SCHEMA_ROWS))
  db.close()
  return rows
}

const isAltered: Check = (db) => {
  const differing = freshSchema().symmetricDifference(new Set(firstColumn(db, SCHEMA_ROWS)))
  const names = [...differing].map((each) => each.split(' ', 2).join(' '))
  return faultOf('the schema is not the one that this program makes', new Set(names))
}

const keeps =
  ({ fault, wrong }: Promised): Check =>
  (db) =>
    faultOf(fault, firstColumn(db, wrong))

const always: readonly Check[] = [isBroken, isOrphaned]

const isUnchained: Check = (db) => chainFaults(db, NAMED)

const ofThisProgram: readonly Check[] = [...always, isAltered, ...promises.map(keeps), isUnchained]

/** The file may be too damaged to query. */
function attempt(check: Check, db: DatabaseSync): ReturnType<Check> {
  try {
    return check(db)
  } catch (error) {
    return { fault: 'the file cannot be read', count: 1, places: [(error as Error).message] }
  }
}

const COUNTED: Readonly<Record<string, string>> = {
  accounts: 'accounts',
  agents: 'agents',
  memories: 'memories WHERE deleted = 0',
  versions: 'log WHERE operation IS NOT NULL',
  events: 'log WHERE event IS NOT NULL',
  entries: 'entries',
}

const countsOf = (db: DatabaseSync): Record<string, number> =>
  Object.fromEntries(
    Object.entries(COUNTED).map(([name, from]) => [
      name,
      prepareTuples<[number]>(db, `SELECT count(*) FROM ${from}`).get()?.[0] ?? 0,
    ]),
  )

function schemaOf(db: DatabaseSync, path: string): number {
  const found = Number([...firstColumn(db, 'PRAGMA user_version')][0])
  if (found === 0) throw new StoreRefused(`${path} is no database of Agent Home.`)
  if (found > SCHEMA) {
    throw new StoreRefused(
      `${path} has schema ${found}, and this program knows ${SCHEMA}. Verify it with the newer program that wrote it.`,
    )
  }
  return found
}

function verify(db: DatabaseSync, path: string, checking: Checking): Verified {
  // One snapshot for all checks.
  db.exec('BEGIN')
  const found = schemaOf(db, path)
  const checks = found === SCHEMA ? ofThisProgram : always
  const faults = checks.flatMap((check, done) => {
    checking(done, checks.length)
    return attempt(check, db) ?? []
  })
  checking(checks.length, checks.length)
  const isCountable = found === SCHEMA && faults.length === 0
  return {
    schema: { found, known: SCHEMA },
    bytes: statSync(path).size,
    checks: checks.length,
    counts: isCountable ? countsOf(db) : {},
    faults,
  }
}

/** Throws StoreRefused: no file, not a database of ours, or a newer schema. */
export function verifyDatabase(path: string, checking: Checking = () => {}): Verified {
  try {
    return readFileOf(path, (db) => verify(db, path, checking))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new StoreRefused(`There is no file ${path}.`, { cause: error })
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new StoreRefused(`${path} cannot be read: ${message}.`, { cause: error })
  }
}
