/** Checks of a database file, its directory and its holder. */
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Examined, Finding } from '../../port/check.ts'
import { schemaFinding } from '../../schema.ts'
import { reachHolder } from '../control/holder.ts'
import { existingFile } from '../control/reach.ts'
import { pathOf, prepareTuples } from '../engine/connection.ts'
import { exposures, isOurs, refuseUnusable } from '../engine/files.ts'
import { explaining } from '../engine/lock.ts'
import { freeBytesFor } from '../engine/space.ts'
import { SAFE, unsafe, versionInUse } from '../engine/version.ts'
import { refuseForeign, versionsOf } from '../schema/migrations.ts'
import { readFileOf } from './still.ts'

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`

async function disk(path: string, reserve: number): Promise<Finding> {
  const free = await freeBytesFor(path)
  const says = `${megabytes(free)} are free, ${megabytes(reserve)} of them kept for agents’ writes`
  const advice = 'Make room, or lower DISK_RESERVE.'
  if (free < reserve) return { about: 'disk', state: 'wrong', says, advice }
  if (free < 2 * reserve) return { about: 'disk', state: 'odd', says, advice }
  return { about: 'disk', state: 'good', says }
}

function files(path: string): Finding[] {
  const about = 'files'
  const open = exposures(path).map((says): Finding => {
    const [what = '', advice = ''] = says.split(/(?<=\.) /)
    return { about, state: 'wrong', says: what.replace(/\.$/, ''), advice }
  })
  if (process.getuid && !isOurs(statSync(path))) {
    const says = `${path} belongs to another user`
    open.push({ about, state: 'odd', says, advice: 'Run this as the user of the service.' })
  }
  return open.length > 0 ? open : [{ about, state: 'good', says: 'they are their owner’s alone' }]
}

function directory(path: string): Finding {
  return { about: 'directory', state: 'good', says: `${dirname(path)} can be written in` }
}

const scalar = (db: DatabaseSync, sql: string): unknown =>
  prepareTuples<[unknown]>(db, sql).get()?.[0]

function journal(mode: unknown): Finding {
  const about = 'journal'
  if (mode === 'wal') return { about, state: 'good', says: 'a write-ahead log' }
  return { about, state: 'odd', says: `${mode}, as in a backup`, advice: 'The next start sets it.' }
}

/** FULL, as on our own connections. */
const SYNCHRONOUS_FULL = 2

function durability(db: DatabaseSync): Finding {
  db.exec('PRAGMA synchronous = FULL')
  const about = 'durability'
  return scalar(db, 'PRAGMA synchronous') === SYNCHRONOUS_FULL
    ? { about, state: 'good', says: 'each commit is synced (synchronous = FULL)' }
    : { about, state: 'wrong', says: 'the file does not keep synchronous = FULL' }
}

const MINUTE_MS = 60_000

/** A later time than now was written by another clock. */
function clock(db: DatabaseSync, now: number): Finding {
  const about = 'clock'
  const written = Number(scalar(db, 'SELECT max(written_at) FROM heartbeat') ?? 0)
  if (written <= now + MINUTE_MS) {
    return { about, state: 'good', says: `it is ${new Date(now).toISOString()}` }
  }
  const says = `it is ${new Date(now).toISOString()}, and the data was written at ${new Date(written).toISOString()}`
  return { about, state: 'wrong', says, advice: 'Set the clock, and have it kept (NTP).' }
}

/** `version`: of the SQLite that would be used. */
export function library(version: string): Finding {
  const about = 'SQLite'
  const fault = unsafe(version)
  if (fault === undefined) return { about, state: 'good', says: version }
  return { about, state: 'wrong', says: fault.replace(/\.$/, ''), advice: SAFE }
}

const empty: Finding = {
  about: 'schema',
  state: 'odd',
  says: 'the database is empty: the first start fills it',
}

const inside = (path: string, now: number): Finding[] =>
  explaining(path, () =>
    readFileOf(path, (db) => {
      refuseForeign(db, path)
      if (versionsOf(db).version === 0) return [empty]
      return [
        schemaFinding(versionsOf(db)),
        journal(scalar(db, 'PRAGMA journal_mode')),
        durability(db),
        clock(db, now),
      ]
    }),
  )

async function holder(path: string): Promise<Finding> {
  const host = await reachHolder(path)
  await host?.close()
  const says = host ? 'a service holds it, and hears commands' : 'no service holds it'
  return { about: 'holder', state: host ? 'good' : 'odd', says }
}

function missing(path: string): Finding {
  const says = `there is no database at ${path} yet`
  return { about: 'database', state: 'odd', says, advice: 'The first start makes it.' }
}

export async function examineFile({ databaseUrl, diskReserve, now }: Examined): Promise<Finding[]> {
  const named = pathOf(databaseUrl)
  refuseUnusable(named)
  if (!existsSync(named)) return [library(versionInUse()), missing(named)]
  const { file } = existingFile(named)
  return [
    { about: 'database', state: 'good', says: file },
    ...files(file),
    directory(file),
    await disk(file, diskReserve),
    ...inside(file, now),
    library(versionInUse()),
    await holder(file),
  ]
}
