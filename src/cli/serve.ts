/** `agent-home serve`, which is what runs without a command: serves, and drains on a signal. */
import { randomBytes } from 'node:crypto'
import nodeModule from 'node:module'
import { pooled } from '../random.ts'
import { serve } from '../serve.ts'

/** It ends with the process. */
export async function serveCommand(): Promise<undefined> {
  const { log, announce, stop } = await serve({ clock: Date.now, random: pooled(randomBytes) })
  let stopping = false
  const drain = (signal: NodeJS.Signals) => {
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
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  announce()
  // Now rather than at the exit, which a crash never reaches.
  nodeModule.flushCompileCache()
}
