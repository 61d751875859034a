/** Several real processes of the program on one database, and load that runs over all of them. */
import { randomInt } from 'node:crypto'
import { inject } from 'vitest'
import type { TestDatabase } from '../harness.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { cloneDatabase } from '../postgres/databases.ts'
import { freshDirectory, type Server, serve } from './program.ts'

/** Neither rates nor quotas are what most of these tests measure. */
const unlimited = {
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  EXPORTS_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  FAILURES_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
}

const databases: TestDatabase[] = []

export async function freshDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  databases.push(database)
  return database
}

/** For afterEach, once the processes are gone. */
export async function dropDatabases(): Promise<void> {
  await Promise.all(databases.splice(0).map((database) => database.drop()))
}

export const startNode = (url: string, env: Readonly<Record<string, string>> = {}) =>
  serve({ directory: freshDirectory(), env: { DATABASE_URL: url, ...unlimited, ...env } })

export const startNodes = async (
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Server[]> => {
  const { url } = await freshDatabase()
  return Promise.all(Array.from({ length: count }, () => startNode(url, env)))
}

const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T

/** Writes through one node until told to stop; what it does not know it reads first. */
export async function writeUntil(
  stopped: () => boolean,
  { read, write }: Recorder,
  keys: readonly string[],
  name: string,
): Promise<void> {
  const versions = new Map<string, number>()
  for (let count = 0; !stopped(); count++) {
    const key = pick(keys)
    const version = versions.get(key) ?? (await read(key).catch(() => undefined))?.version
    if (version === undefined) continue
    const { outcome } = await write(key, version, `${name}/${count};`.repeat(randomInt(1, 200)))
    if (outcome.is === 'saved') versions.set(key, outcome.version)
    else if (outcome.is === 'conflict') versions.set(key, outcome.currentVersion)
    else versions.delete(key)
  }
}

export const recorders = (nodes: readonly (() => string)[], token: string): Recorder[] =>
  nodes.map((address) => recorder(address, token))

export const historyOf = (records: readonly Recorder[]) => records.flatMap(({ history }) => history)
