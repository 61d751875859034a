/** Several real processes of the program on one database, and load that runs over all of them. */
import { randomInt } from 'node:crypto'
import { inject } from 'vitest'
import type { TestDatabase } from '../harness.ts'
import type { Operation } from '../history/operations.ts'
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

export interface Load {
  readonly records: readonly Recorder[]
  readonly history: () => readonly Operation[]
  /** Writes that were answered with success. */
  readonly saved: () => number
  /** Looks again after each answer. */
  readonly until: (reached: () => boolean) => Promise<void>
  /** Writers on one node, which go on until the stop that this gives is called. */
  readonly start: (node: number, writers: number) => () => Promise<void>
}

/** One agent's memories under write and read through several nodes, all of it recorded. */
export function loadOn(nodes: readonly Server[], token: string, keys: readonly string[]): Load {
  let saved = 0
  const waiting = new Set<() => void>()

  const counted = (record: Recorder): Recorder => ({
    ...record,
    async write(...args) {
      const write = await record.write(...args)
      if (write.outcome.is === 'saved') saved++
      for (const look of waiting) look()
      return write
    },
  })
  const records = nodes.map((node) => counted(recorder(() => node.url, token)))

  async function writeOn({ read, write }: Recorder, name: string, stopped: () => boolean) {
    const versions = new Map<string, number>()
    for (let count = 0; !stopped(); count++) {
      const key = pick(keys)
      const version = versions.get(key) ?? (await read(key).catch(() => undefined))?.version ?? 0
      const { outcome } = await write(key, version, `${name}/${count};`.repeat(randomInt(1, 200)))
      if (outcome.is === 'saved') versions.set(key, outcome.version)
      else if (outcome.is === 'conflict') versions.set(key, outcome.currentVersion)
      else versions.delete(key)
    }
  }

  return {
    records,
    history: () => records.flatMap(({ history }) => history),
    saved: () => saved,
    until: (reached) =>
      new Promise((resolve) => {
        const look = () => {
          if (!reached()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    start(node, writers) {
      const record = records[node]
      if (!record) throw new Error(`there is no node ${node}`)
      let over = false
      const writing = Array.from({ length: writers }, (_, i) =>
        writeOn(record, `${node}.${i}`, () => over),
      )
      return async () => {
        over = true
        await Promise.all(writing)
      }
    },
  }
}

/** The last word on every key, read once the writers have stopped. */
export const readEach = (load: Load, keys: readonly string[]) =>
  Promise.all(keys.map((key) => load.records[0]?.read(key)))
