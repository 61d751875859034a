/** `agent-home serve`, which is what runs without a command: serves, and drains on a signal. */
import { randomBytes } from 'node:crypto'
import nodeModule from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { pooled } from '../random.ts'
import { type Given, serve } from '../serve.ts'

export const serveCommand = (): Promise<undefined> => servePatiently({})

/** It ends with the process. `patience`: where it is another than the server's own. */
export async function servePatiently(patience: NonNullable<Given['patience']>): Promise<undefined> {
  const given = { clock: Date.now, random: pooled(randomBytes), patience }
  const { log, announce, stop } = await serve(given)
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
  // V8 would take what requests leave behind for what stays, at some starts and not at others, and
  // allocate it where it is collected last: a third more processor for a read, and 25 MB. Code that
  // was compiled under other flags is compiled anew, Node's own too: so not before all is loaded.
  setFlagsFromString('--no-allocation-site-pretenuring')
}
