#!/usr/bin/env node
/** The process: runs a command, or serves. */
// Imported as a whole: an older Node.js lacks some of its names, and would report only that.
import nodeModule from 'node:module'
import { join } from 'node:path'
import { tooOld } from './runtime.ts'

const refusal = tooOld(process.versions.node)
if (refusal) {
  process.stderr.write(`${refusal}\n`)
  process.exit(1)
}

// Before the other imports, so that Node caches their compiled code for the next start. An executable
// has no directory for it.
if (!process.getBuiltinModule('node:sea').isSea()) {
  nodeModule.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))
}

/** Files are readable only for the user of the process. */
const PRIVATE = 0o077

/** Loaded only for commands: the parser would cost a service time and memory. */
async function start(words: readonly string[]): Promise<void> {
  const isJson = words.length === 1 && words[0] === '--json'
  const [name = 'serve', ...args] = isJson ? ['serve', ...words] : words
  if (name === 'serve' && args.length === 0) {
    const { servePatiently } = await import('./cli/serve.ts')
    await servePatiently({})
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
  const { errorText } = await import('./cli/failure.ts')
  const { text, exit } = await errorText(error, false)
  process.stderr.write(text)
  process.exit(exit)
})
