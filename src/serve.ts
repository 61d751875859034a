/** The service: config, store, app and server. */
import type { Writable } from 'node:stream'
import { type Logger, pino } from 'pino'
import type { PrettyOptions } from 'pino-pretty'
import { createApp, type Parts } from './app.ts'
import { addressOfService, boundsOf, type Config, loadConfig } from './config.ts'
import { listen, type Patience } from './http/server.ts'
import { openStore } from './store/open.ts'
import type { Progress, Store } from './store/port/store.ts'
import { VERSION } from './version.ts'

export type Given = Pick<Parts, 'clock' | 'random' | 'timers' | 'reach'> & {
  readonly patience?: Patience
  /** The log is lines of JSON on a terminal, too. */
  readonly asJson?: boolean
}

export interface Service {
  readonly log: Logger
  /** Prints the address and what to try next. */
  readonly announce: () => void
  /** Calls `tell` when the database is no longer for this program, which must then stop. */
  readonly whenRefused: (tell: (reason: Error) => void) => void
  /**
   * Stops in order: readiness off, DRAIN_DELAY unless `hurry` is aborted, stop accepting, finish
   * requests, close the database.
   */
  readonly stop: (hurry: AbortSignal) => Promise<void>
}

const SECOND_MS = 1_000

/** For a terminal, one per line. */
const READABLE: PrettyOptions = {
  translateTime: 'SYS:HH:MM:ss',
  messageFormat: '{msg}{if route} {method} {route} {status}{end}{if code} {code}{end}',
  ignore: 'method,route,status,code',
  singleLine: true,
  sync: true,
}

async function createLog(level: Config['LOG_LEVEL'], isShown: boolean): Promise<Logger> {
  // Lines for a reader that is gone could block the exit forever.
  if (!isShown) return pino({ level }, pino.destination({ sync: true }))
  const { default: pretty } = await import('pino-pretty')
  return pino({ level, base: null }, pretty(READABLE))
}

function announce(log: Logger, url: string, store: Store, isShown: boolean): void {
  const next = `curl -s ${url}/api/agents/preview`
  if (!isShown) {
    log.info({ version: VERSION, url, data: store.location, next }, 'listening')
    if (store.isNew) log.info({ data: store.location }, 'the database is new, and empty')
    return
  }
  process.stdout.write(
    `\n  Agent Home ${VERSION} is open at ${url}\n  Its data is in ${store.location}${store.isNew ? ', a new database' : ''}\n\n` +
      `  Open it in a browser, or see what a birth offers:\n    ${next}\n` +
      `  Then take the walk in docs/walk.md. Stop with Ctrl+C.\n\n`,
  )
}

const thousands = (n: number): string => n.toLocaleString('en-US')

/** Overwrites the line. */
const line = (said: string): string => `\r  Bringing the database up to date: ${said}\x1b[K`

/** One line, rewritten in place. */
const onTerminal =
  (terminal: Writable): Progress =>
  (done, of, isWriting) => {
    const said = isWriting ? 'writing to disk…' : `${thousands(done)} of ${thousands(of)} memories`
    terminal.write(`${line(said)}${done === of ? '\n' : ''}`)
  }

/** A log file needs no rewritten lines. */
function inLog(log: Pick<Logger, 'info'>): Progress {
  let begun = false
  return (done, of) => {
    if (!begun) log.info({ memories: of }, 'bringing the database up to date')
    begun = true
    if (done === of) log.info('the database is up to date')
  }
}

/** Progress of a migration. `terminal`: undefined if the output is not a terminal. */
export const tellProgress = (
  log: Pick<Logger, 'info'>,
  terminal: Writable | undefined,
): Progress => (terminal ? onTerminal(terminal) : inLog(log))

/** Prepares the search when the first token is seen, which saves an idle service 20 MB. */
const preparingSearch = (store: Store): Store => ({
  ...store,
  identify(tokenHash) {
    store.prepareSearch()
    return store.identify(tokenHash)
  },
})

/** Rejects if it cannot serve; `advice` says what to do. */
export async function serve({
  clock,
  random,
  timers,
  reach,
  patience,
  asJson,
}: Given): Promise<Service> {
  const config = loadConfig()
  const isShown = process.stdout.isTTY && !asJson
  const log = await createLog(config.LOG_LEVEL, isShown)
  const progress = tellProgress(log, process.stderr.isTTY && !asJson ? process.stderr : undefined)
  const opened = await openStore(
    config.DATABASE_URL,
    clock(),
    { ...boundsOf(config), timers },
    progress,
  )
  const store = preparingSearch(opened)
  const app = createApp({ config, store, clock, random, timers, reach, log })
  await app.prepare()
  const bound = { perAddress: config.CONNECTIONS_PER_ADDRESS, exempt: config.TRUSTED_PROXIES }
  const keepAlive = { keepAliveTimeout: config.IDLE_TIMEOUT * SECOND_MS, ...patience }
  const server = await listen(app, config.HOST, config.PORT, keepAlive, bound).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  return {
    log,
    announce() {
      announce(
        log,
        addressOfService({ ...config, HOST: server.host, PORT: server.port }),
        store,
        isShown,
      )
      for (const warning of store.warnings) log.warn(warning)
    },
    whenRefused: (tell) => store.whenRefused?.(tell),
    async stop(hurry) {
      app.becomeUnready()
      await timers.pause(config.DRAIN_DELAY * SECOND_MS, hurry).catch(() => {})
      app.stopAccepting()
      await server.drain()
      await store.close()
      log.info('stopped')
    },
  }
}
