/** Loads every module of the PostgreSQL engine, and posts the text of each statement that they make. */
import { readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { parentPort } from 'node:worker_threads'

const RECORDING = `
  import { statement as made } from './verb.ts?itself'
  export * from './verb.ts?itself'
  export function statement(text) {
    globalThis.statements.add(text)
    return made(text)
  }`

const statements = new Set<string>()
Object.assign(globalThis, { statements })

registerHooks({
  load: (url, context, next) =>
    url.endsWith('/verbs/verb.ts')
      ? { format: 'module', source: RECORDING, shortCircuit: true }
      : next(url, context),
})

const store = new URL('../../src/store/', import.meta.url)
const files = readdirSync(store, { recursive: true, encoding: 'utf8' })
for (const file of files) {
  // The search thread runs when it is loaded, on statements of the others.
  if (/^(verbs|postgres)\/.*(?<!-thread)\.ts$/.test(file)) await import(new URL(file, store).href)
}
parentPort?.postMessage([...statements])
