/** Real apps on real stores, for tests. An engine is one row of `engines`. */
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { inject } from 'vitest'
import { type App, createApp, type Parts } from '../src/app.ts'
import { boundsOf, loadConfig } from '../src/config.ts'
import type { Answer as Given, Incoming } from '../src/http/call.ts'
import { targetOf } from '../src/http/target.ts'
import { lazily } from '../src/lazily.ts'
import { admissionLimits, type Load } from '../src/pipeline/admission-control.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import { openWriter } from '../src/store/sqlite/engine/connection.ts'
import { migrate } from '../src/store/sqlite/schema/migrations.ts'
import { processTimers } from '../src/timers.ts'
import { checkDocumented } from './documented.ts'
import { databaseDirectory } from './files.ts'
import { nowhere } from './nowhere.ts'
import { at, cloneDatabase } from './postgres/databases.ts'

export interface TestDatabase {
  readonly url: string
  /** The directory of its files, whatever else lies there. */
  readonly directory: () => Promise<string>
  readonly drop: () => Promise<void>
}

export interface Engine {
  readonly name: string
  readonly fresh: () => Promise<TestDatabase>
}

export const temporaryDirectory = (): string => databaseDirectory('agent-home-')

/** A database with the schema in it and no rows: its file is written in no time, and made in 4 ms. */
const emptyDatabase = lazily((): Buffer => {
  const directory = temporaryDirectory()
  const path = join(directory, 'home.db')
  const db = openWriter(path)
  migrate(db, path)
  db.close()
  const bytes = readFileSync(path)
  rmSync(directory, { recursive: true })
  return bytes
})

const sqlite: Engine = {
  name: 'sqlite',
  async fresh() {
    const directory = temporaryDirectory()
    const path = join(directory, 'home.db')
    writeFileSync(path, emptyDatabase(), { mode: 0o600 })
    return {
      url: `sqlite:${path}`,
      directory: async () => directory,
      drop: async () => rmSync(directory, { recursive: true, force: true }),
    }
  },
}

const postgres: Engine = {
  name: 'postgres',
  fresh: () => cloneDatabase(inject('postgresUrl'), inject('postgresTemplate')),
}

/** The quick run has no PostgreSQL. */
export const engines: readonly Engine[] = [sqlite, ...(inject('postgresUrl') ? [postgres] : [])]

/** PostgreSQL as people run it: each transaction on another of its connections. */
const pooled = inject('poolers').map(
  ({ name, url }): Engine => ({
    name: `postgres through ${name}`,
    async fresh() {
      const database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
      return { ...database, url: at(url, database.name) }
    },
  }),
)

/** For what a store promises: each engine, and in `npm run test:system` each other way to one. */
const waysOf = { check: engines, test: engines, system: pooled, hunt: [...engines, ...pooled] }

export const stores: readonly Engine[] = waysOf[inject('run')]

/** For what no engine decides: the store's contract holds them alike. */
export const embedded: Engine = sqlite

type Json = Record<string, unknown>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; {} where there is none. */
  readonly body: Json
}

/** What is a list is sent once for each. */
export type SentHeaders = Readonly<Record<string, string | readonly string[]>>

export interface CallOptions {
  readonly token?: string
  readonly headers?: SentHeaders
  /** A string is sent as it stands; anything else as JSON. */
  readonly body?: unknown
  /** The socket's remote address. */
  readonly from?: string
}

export interface Born {
  readonly agentId: string
  readonly token: string
  readonly operatorToken: string
  readonly idempotencyKey: string
}

export interface TestService {
  readonly app: App
  readonly store: Store
  /** Lines of the log, as written. */
  readonly logged: string[]
  /** Moves the service's clock. */
  readonly tick: (ms: number) => void
  readonly now: () => number
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  /** A fresh agent, born from an address of its own so that births never run out. */
  readonly birth: (overrides?: Json) => Promise<Born>
  readonly close: () => Promise<void>
}

export const freshKey = (): string => randomBytes(32).toString('hex')

export const birthBody = {
  name: 'Atlas',
  purpose: 'Keeps the plan of a long migration.',
  symbol: 'zerno',
  operatorConsent: true,
} as const

/** Another machine, for this one has larger limits; metrics are for this one alone. */
const senderOf = (url: string): string => (url === '/metrics' ? '127.0.0.1' : '198.51.100.7')

export const incomingOf = (method: string, url: string, options: CallOptions): Incoming => {
  const { token, headers, body, from = senderOf(url) } = options
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const sent = Object.entries<string | readonly string[]>({
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...Object.fromEntries(given),
  }).map(([name, value]) => [name, [value].flat()] as const)
  const bytes = typeof body === 'string' ? body : JSON.stringify(body)
  const target = targetOf('127.0.0.1:8787', url)
  if (!target) throw new Error(`${url} is no address`)
  return {
    ...target,
    method,
    requestHeaders: Object.fromEntries(sent.map(([name, values]) => [name, values.join(', ')])),
    rawHeaders: sent.flatMap(([name, values]) => values.flatMap((value) => [name, value])),
    body: Readable.from(bytes ? [Buffer.from(bytes)] : []),
    peer: from,
  }
}

/** The text of an answer, read to its end. */
export async function textOf({ body }: Given): Promise<string> {
  if (body === null || typeof body === 'string') return body ?? ''
  let text = ''
  for await (const piece of body.pieces) text += piece
  body.close()
  return text
}

/** What a client makes of an answer. */
export async function answerOf(method: string, given: Given): Promise<Answer> {
  // Node sends no body to HEAD, whatever it is given.
  const text = method === 'HEAD' ? '' : await textOf(given)
  const { status } = given
  const headers = new Headers(given.headers)
  const isJson = headers.get('content-type')?.includes('json') && text !== ''
  return { status, headers, text, body: isJson ? (JSON.parse(text) as Json) : {} }
}

/** Asks the app without a socket. */
export const ask = async (
  app: App,
  method: string,
  url: string,
  options: CallOptions = {},
): Promise<Answer> => answerOf(method, await app.serve(incomingOf(method, url, options)))

/** What a test of something else, many at once, or the disk they run on would run into. */
const lenient = { FAILURES_PER_MINUTE: '0', SIGN_INS_PER_MINUTE: '0', DISK_RESERVE: '0' }

/** Whoever comes has a turn, however slow the machine is and however many come at once. */
const patientLoad: Load = {
  limits: { ...admissionLimits, waitMs: 3_600_000 },
  delayMs: () => 0,
}

/** Another app on what a service keeps, with settings of its own, whose store does some of its verbs otherwise. */
export function appBeside(
  { store, now }: Pick<TestService, 'store' | 'now'>,
  otherwise: Partial<Store>,
  own: Partial<Pick<Parts, 'timers'>> = {},
  env: Readonly<Record<string, string>> = {},
): App {
  const config = loadConfig({ ...env, DATABASE_URL: 'sqlite:unused' })
  const given = { config, clock: now, random: randomBytes, timers: processTimers, reach: nowhere }
  const parts = { ...given, load: patientLoad, ...own }
  return createApp({ ...parts, store: { ...store, ...otherwise }, log: pino({ enabled: false }) })
}

/** The whole service on a fresh database of an engine, without sockets. */
export async function openService(
  engine: Engine,
  env: Readonly<Record<string, string>> = {},
  own: Partial<Pick<Parts, 'reach'>> = {},
): Promise<TestService> {
  const database = await engine.fresh()
  let offset = 0
  const now = () => Date.now() + offset
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const config = loadConfig({ ...lenient, ...env, DATABASE_URL: database.url })
  const store = await openStore(database.url, now(), { ...boundsOf(config), timers: processTimers })
  const given = { config, store, clock: now, random: randomBytes, timers: processTimers, log }
  const parts = { reach: nowhere, ...own, ...given, load: patientLoad }
  const app = createApp(parts)
  let births = 0

  const call = async (method: string, path: string, options: CallOptions = {}) => {
    const answer = await ask(app, method, path, options)
    await checkDocumented(app, method, path, answer)
    return answer
  }

  return {
    app,
    store,
    logged,
    now,
    tick: (ms) => {
      offset += ms
    },
    call,
    async birth(overrides = {}) {
      const idempotencyKey = freshKey()
      births++
      const { status, text, body } = await call('POST', '/api/agents/birth', {
        headers: { 'idempotency-key': idempotencyKey },
        body: { ...birthBody, ...overrides },
        from: `10.${births >> 16}.${(births >> 8) & 255}.${births & 255}`,
      })
      if (status !== 201) throw new Error(`birth failed with ${status}: ${text}`)
      return {
        agentId: String(body.agent_id),
        token: String(body.token),
        operatorToken: String(body.operator_token),
        idempotencyKey,
      }
    },
    async close() {
      await store.close()
      await database.drop()
    },
  }
}

export const memoryPath = '/api/agents/me/memory'

/** Writes a memory; its expected version is 0 unless told. */
export const write = (
  service: TestService,
  token: string,
  key: string,
  text: string,
  expectedVersion = 0,
) => service.call('POST', memoryPath, { token, body: { key, text, expectedVersion } })

const AT_ONCE = 32

/** All of the work, some at a time: an engine may refuse what waits too long on a busy machine. */
export async function inGroups<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const group = items.slice(start, start + AT_ONCE)
    results.push(...(await Promise.all(group.map((item, n) => work(item, start + n)))))
  }
  return results
}
