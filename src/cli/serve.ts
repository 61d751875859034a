/** `agent-home serve`, the default command: runs the service, and drains on a signal. */
import { randomBytes } from 'node:crypto'
import nodeModule from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { resolveName } from '../name-server.ts'
import { type Given, serve } from '../serve.ts'
import { processTimers } from '../timers.ts'
import type { Arguments } from './command.ts'

const POOL_BYTES = 4_096

type Random = (bytes: number) => Uint8Array

/** A pool of random bytes for many callers. Every byte is used once and then wiped from the pool. */
export function pooled(source: Random): Random {
  let pool = new Uint8Array()
  let used = 0
  return (bytes) => {
    if (bytes > POOL_BYTES) return source(bytes)
    if (used + bytes > pool.length) {
      pool = new Uint8Array(source(POOL_BYTES))
      used = 0
    }
    const taken = pool.slice(used, used + bytes)
    pool.fill(0, used, used + bytes)
    used += bytes
    return taken
  }
}

export const serveCommand = (given?: Arguments): Promise<undefined> =>
  servePatiently({}, given?.flags.has('json'))

/** Runs until the process ends. `patience`: overrides the server's deadlines. */
export async function servePatiently(
  patience: NonNullable<Given['patience']>,
  asJson = false,
): Promise<undefined> {
  const random = pooled(randomBytes)
  const own = { clock: Date.now, timers: processTimers, reach: { resolve: resolveName } }
  const given = { ...own, random, patience, asJson }
  const { log, announce, whenRefused, stop } = await serve(given)
  let stopping = false
  const hurry = new AbortController()
  const drain = (because: object, code = 0) => {
    if (stopping) return hurry.abort()
    stopping = true
    log.info(because, 'stopping')
    stop(hurry.signal).then(
      () => process.exit(code),
      (error: unknown) => {
        log.fatal({ err: error }, 'could not stop cleanly')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => drain({ signal }))
  whenRefused(({ message }) => {
    log.fatal(message)
    drain({}, 1)
    // What still came would fail, or write what a newer program does not know.
    hurry.abort()
  })
  announce()
  // Printed now, since a crash would skip exit handlers.
  nodeModule.flushCompileCache()
  // Otherwise V8 sometimes promotes short-lived objects and collects them late: a third more
  // processor time per read, and 25 MB. Code compiled under other flags is compiled again,
  // including Node's own, so this runs after everything is loaded.
  setFlagsFromString('--no-allocation-site-pretenuring')
}
