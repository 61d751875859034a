#!/usr/bin/env node
/** The process: runs a command, or serves and drains on SIGTERM. Only this file exits it. */
import { randomBytes } from 'node:crypto'
// Whole: an older Node.js lacks some of its names, and would say only that.
import nodeModule from 'node:module'
import { join } from 'node:path'
import { pooled } from './random.ts'
import { tooOld } from './runtime.ts'

const refusal = tooOld(process.versions.node)
if (refusal) {
  process.stderr.write(`${refusal}\n`)
  process.exit(1)
}

// Before the rest is imported, so that Node keeps its compiled code and the next start is quick.
nodeModule.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))

/** What the process writes is for its own user alone. */
const PRIVATE = 0o077

async function start(): Promise<void> {
  const { serve } = await import('./serve.ts')
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

type Command = (args: readonly string[]) => Promise<void>

/** Loaded when they are given: they need little of what the service is made of. */
const commands = new Map<string, Command>([
  ['serve', start],
  ['mcp', async () => (await import('./cli/mcp.ts')).mcp()],
  ['operator-key', async (args) => (await import('./cli/operator-key.ts')).operatorKey(args)],
])

async function run(name: string, args: readonly string[]): Promise<void> {
  const command = commands.get(name)
  if (command) return command(args)
  const known = [...commands.keys()].join(', ')
  process.stderr.write(`There is no command ${name}. There are: ${known}.\n`)
  process.exit(1)
}

process.umask(PRIVATE)
const [name = 'serve', ...args] = process.argv.slice(2)
run(name, args).catch(async (error: unknown) => {
  const { advice } = await import('./advice.ts')
  process.stderr.write(`${advice(error) ?? (error as Error).stack}\n`)
  process.exit(1)
})
