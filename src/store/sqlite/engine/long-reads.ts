/**
 * Reads that last, and the log behind them. The log starts anew when all of it was moved into the
 * database and nobody reads from it; where one long read begins before another ends, that is never.
 */
import type { DatabaseSync } from 'node:sqlite'
import { prepare } from './connection.ts'

/** 32 MB: between commits it is moved at a quarter of that, so that as a rule nobody waits. */
const LONG_PAGES = 8_000

/** It is moved whole unless a short read was in the way. */
const TRIES = 5

interface Log {
  /** Pages in it. */
  readonly log: number
  /** Pages of these that are in the database. */
  readonly checkpointed: number
}

export interface LongReads {
  /** Waits for its turn; answers how to say that the read is over, once or more often. */
  readonly enter: () => Promise<() => void>
}

/** `rest` lets the writer move the log; `reader` is asked between its transactions. */
export function boundLog(reader: DatabaseSync, rest: () => Promise<unknown>): LongReads {
  const noop = prepare<Log>(reader, 'PRAGMA wal_checkpoint(NOOP)')
  const look = (): Log => noop.get() ?? { log: 0, checkpointed: 0 }
  let open = 0
  let over: PromiseWithResolvers<void> | undefined
  let pause: Promise<void> | undefined

  function isMoved(): boolean {
    const { log, checkpointed } = look()
    return checkpointed === log || log < LONG_PAGES
  }

  async function move(): Promise<void> {
    over = Promise.withResolvers()
    if (open === 0) over.resolve()
    await over.promise
    for (let tries = 0; tries < TRIES && !isMoved(); tries++) await rest()
  }

  return {
    async enter() {
      // Who comes meanwhile waits for the same pause. A log that cannot be moved keeps nobody out.
      if (pause || look().log >= LONG_PAGES) {
        pause ??= move()
          .catch(() => {})
          .finally(() => {
            pause = undefined
          })
        await pause
      }
      open++
      let reading = true
      return () => {
        if (reading && --open === 0) over?.resolve()
        reading = false
      }
    },
  }
}
