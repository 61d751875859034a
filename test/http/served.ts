/** A whole service on a socket, for a thread that counts what it does (test/counted.ts). */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { createApp } from '../../src/app.ts'
import { boundsOf, loadConfig } from '../../src/config.ts'
import { listen } from '../../src/http/server.ts'
import { openStore } from '../../src/store/open.ts'
import { processTimers } from '../../src/timers.ts'
import { nowhere } from '../nowhere.ts'

let stop = async (): Promise<void> => {}

/** Its port. */
export async function serve(env: Readonly<Record<string, string>>): Promise<number> {
  const config = loadConfig(env)
  const log = pino({ level: 'silent' })
  const store = await openStore(config.DATABASE_URL, Date.now(), {
    ...boundsOf(config),
    timers: processTimers,
  })
  const app = createApp({
    config,
    store,
    clock: Date.now,
    random: randomBytes,
    timers: processTimers,
    reach: nowhere,
    log,
  })
  const server = await listen(app, '127.0.0.1', 0)
  stop = async () => {
    app.stopAccepting()
    await server.drain()
    await store.close()
  }
  return server.port
}

export const close = (): Promise<void> => stop()
