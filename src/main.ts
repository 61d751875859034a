#!/usr/bin/env node
/** The process: config, store, listen, and drain on SIGTERM. Only this file exits it. */
import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { createApp } from './app.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { listen, type RunningServer } from './http/server.ts'
import { pooled } from './random.ts'
import { openStore } from './store/open.ts'
import { type Store, StoreRefused } from './store/port.ts'

const createLog = (level: Config['LOG_LEVEL']): Logger =>
  process.stdout.isTTY
    ? pino({ level, base: null }, pretty({ colorize: true, sync: true }))
    : // Lines that wait to be written to a reader that is gone can hold up the exit for ever.
      pino({ level }, pino.destination({ sync: true }))

const urlOf = ({ PUBLIC_URL }: Config, { host, port }: RunningServer): string =>
  PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`

function announce(log: Logger, url: string, store: Store): void {
  const next = `curl -s ${url}/api/agents/preview`
  if (!process.stdout.isTTY) {
    log.info({ url, data: store.location, next }, 'listening')
    return
  }
  process.stdout.write(
    `\n  Agent Home is open at ${url}\n  Its data is in ${store.location}\n\n` +
      `  See what a birth offers:   ${next}\n` +
      `  Then follow the README's walk, or read ${url}/openapi.json\n` +
      `  Stop with Ctrl+C.\n\n`,
  )
}

/** Readiness off, stop accepting, finish what runs, the database last. */
function drainOn(signals: readonly NodeJS.Signals[], log: Logger, stop: () => Promise<void>): void {
  let stopping = false
  for (const signal of signals) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.fatal({ err: error }, 'could not stop cleanly')
          process.exit(1)
        },
      )
    })
  }
}

async function start(): Promise<void> {
  const config = loadConfig()
  const log = createLog(config.LOG_LEVEL)
  const clock = Date.now
  const store = await openStore(config.DATABASE_URL, clock())
  const app = createApp({ config, store, clock, random: pooled(randomBytes), log })
  const server = await listen(app.hono, config.HOST, config.PORT, app.newRequestId).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  drainOn(['SIGTERM', 'SIGINT'], log, async () => {
    app.stopAccepting()
    await server.drain()
    await store.close()
    log.info('stopped')
  })
  announce(log, urlOf(config, server), store)
  for (const warning of store.warnings) log.warn(warning)
}

const advice = (error: unknown): string | undefined => {
  if (error instanceof ConfigError || error instanceof StoreRefused) return error.message
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Set PORT to another, or to 0 for any free one.`
  if (code === 'EACCES') return `Not allowed: ${(error as Error).message}`
  return undefined
}

start().catch((error: unknown) => {
  process.stderr.write(`${advice(error) ?? (error as Error).stack}\n`)
  process.exit(1)
})
