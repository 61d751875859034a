/** A service on a socket whose clock can be moved, so that its house has a past. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../../src/app.ts'
import { boundsOf, loadConfig } from '../../src/config.ts'
import { listen } from '../../src/http/server.ts'
import { openStore } from '../../src/store/open.ts'
import { processTimers } from '../../src/timers.ts'
import { databaseDirectory } from '../files.ts'
import { nowhere } from '../nowhere.ts'

export interface House {
  readonly base: string
  /** Milliseconds that the clock goes behind the real one. */
  readonly setBehind: (ms: number) => void
  readonly close: () => Promise<void>
}

/** What filling a house in a minute would run into. */
const lenient = {
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  FAILURES_PER_MINUTE: '0',
  SIGN_INS_PER_MINUTE: '0',
  DISK_RESERVE: '0',
}

export async function openHouse(): Promise<House> {
  const directory = databaseDirectory('pictures-')
  const config = loadConfig({ ...lenient, DATABASE_URL: `sqlite:${join(directory, 'home.db')}` })
  let behind = 0
  const clock = () => Date.now() - behind
  const store = await openStore(config.DATABASE_URL, clock(), {
    ...boundsOf(config),
    timers: processTimers,
  })
  const log = pino({ level: 'silent' })
  const app = createApp({
    config,
    store,
    clock,
    random: randomBytes,
    timers: processTimers,
    reach: nowhere,
    log,
  })
  const server = await listen(app, '127.0.0.1', 0)
  return {
    base: `http://127.0.0.1:${server.port}`,
    setBehind: (ms) => {
      behind = ms
    },
    async close() {
      app.stopAccepting()
      await server.drain()
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
