#!/usr/bin/env node
/** The process: runs a command, or serves. */
// Whole: an older Node.js lacks some of its names, and would say only that.
import nodeModule from 'node:module'
import { join } from 'node:path'
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

/** What parses commands costs time and memory that a service would keep. */
async function start([name = 'serve', ...args]: readonly string[]): Promise<void> {
  if (name === 'serve' && args.length === 0) {
    const { serveCommand } = await import('./cli/serve.ts')
    await serveCommand()
    return
  }
  const [{ run }, { processTerminal }] = await Promise.all([
    import('./cli/run.ts'),
    import('./cli/terminal.ts'),
  ])
  process.exitCode = await run([name, ...args], processTerminal())
}

process.umask(PRIVATE)
start(process.argv.slice(2)).catch(async (error: unknown) => {
  const { advice } = await import('./advice.ts')
  process.stderr.write(`${advice(error) ?? (error as Error).stack}\n`)
  process.exit(1)
})
