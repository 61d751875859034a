/** Several real processes of the program on one database, and load that runs over all of them. */
import { setTimeout as pause } from 'node:timers/promises'
import { inject } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { openService, type TestDatabase } from '../harness.ts'
import {
  changeBoth,
  chooseChange,
  type Knowledge,
  knownAfter,
  knownFrom,
  pick,
} from '../history/choose.ts'
import { type Change, type Operation, versionMade } from '../history/operations.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { cloneDatabase } from '../postgres/databases.ts'
import { dice } from '../seed.ts'
import { freshDirectory, type Server, serve } from './program.ts'

/** Neither rates nor quotas are what most of these tests measure. */
const unlimited = {
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  EXPORTS_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  FAILURES_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  EVENTS_PER_AGENT: '0',
}

const roll = dice()

/** As a client that was refused or not answered does: nodes without a database are not asked in vain. */
const BACK_OFF_MS = 20

/** Of every load, and changed by batches alone. */
export const PAIR = ['left', 'right'] as const

export interface Node extends Pick<Server, 'url'> {
  readonly stop: () => Promise<void>
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

/** A node in this process, for what no process decides. */
export async function openNode(
  database: TestDatabase,
  env: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<Node> {
  const kept = { ...database, drop: async () => {} }
  const engine = { name: 'kept', fresh: async () => kept }
  const service = await openService(engine, { ...unlimited, ...env })
  const server = await listen(service.app, '127.0.0.1', port)
  return {
    url: `http://127.0.0.1:${server.port}`,
    async stop() {
      service.app.stopAccepting()
      await server.drain()
      await service.close()
    },
  }
}

export interface Load {
  readonly records: readonly Recorder[]
  readonly history: () => readonly Operation[]
  /** Changes that were answered with success. */
  readonly saved: () => number
  /** Looks again after each answer. */
  readonly until: (reached: () => boolean) => Promise<void>
  /** Makes the next change of a writer of every kind of change on one node. */
  readonly writer: (node: number, name: string) => () => Promise<void>
  /** Such writers, which go on until the stop that this gives is called. */
  readonly start: (node: number, writers: number) => () => Promise<void>
}

/** One agent's memories under change and read through several nodes, all of it recorded. */
export function loadOn(
  nodes: readonly Pick<Server, 'url'>[],
  token: string,
  keys: readonly string[],
): Load {
  let saved = 0
  const waiting = new Set<() => void>()

  function count<T extends Change>(change: T): T {
    if (versionMade(change) !== undefined) saved++
    for (const look of waiting) look()
    return change
  }
  const counted = (record: Recorder): Recorder => ({
    ...record,
    change: async (asked) => count(await record.change(asked)),
    async batch(asked) {
      const [first, ...others] = await record.batch(asked)
      return first ? [count(first), ...others] : others
    },
    write: async (...args) => count(await record.write(...args)),
  })
  const records = nodes.map((node) => counted(recorder(() => node.url, token)))

  function writer(node: number, name: string): () => Promise<void> {
    const record = records[node]
    if (!record) throw new Error(`there is no node ${node}`)
    const known = new Map<string, Knowledge>()
    let count = 0
    return async () => {
      const key = pick([...keys, PAIR[0]])
      const found = known.has(key) ? undefined : await record.read(key).catch(() => undefined)
      const knowledge = known.get(key) ?? (found ? knownFrom(found) : { current: 0, highest: 0 })
      const payload = `${name}/${count++};`.repeat(1 + roll(199))
      const asked = chooseChange(key, knowledge, payload)
      const isPaired = key === PAIR[0]
      const made = await (isPaired ? changeBoth(record, asked, PAIR[1]) : record.change(asked))
      const after = knownAfter(made, knowledge.highest)
      if (after) known.set(key, after)
      else {
        known.delete(key)
        await pause(BACK_OFF_MS)
      }
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
    writer,
    start(node, writers) {
      let over = false
      const writing = Array.from({ length: writers }, async (_, i) => {
        const change = writer(node, `${node}.${i}`)
        while (!over) await change()
      })
      return async () => {
        over = true
        await Promise.all(writing)
      }
    },
  }
}

/** The last word on every key, read once the writers have stopped. */
export const readEach = (load: Load, keys: readonly string[]) =>
  Promise.all([...keys, ...PAIR].map((key) => load.records[0]?.read(key)))
