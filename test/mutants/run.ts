/** `npm run mutants [-- group… --option…]`: the mutants of some groups, or of all. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { keepDatabasesInMemory } from '../files.ts'
import { createPostgres } from '../postgres/server.ts'
import { groups } from './groups.ts'
import { REPORTS, report } from './report.ts'

/** Groups come first; what begins with a dash, and all after it, is Stryker's. */
function chosen(words: readonly string[]): { names: string[]; options: string[] } {
  const dash = words.findIndex((word) => word.startsWith('-'))
  const end = dash < 0 ? words.length : dash
  const names = end > 0 ? words.slice(0, end) : Object.keys(groups)
  return { names, options: words.slice(end) }
}

/** A file that has moved would otherwise be left out in silence. */
function refuseStrays(names: readonly string[]): void {
  for (const name of names) {
    const group = groups[name]
    if (!group) throw new Error(`${name} is none of ${Object.keys(groups).join(', ')}`)
    const stray = [...group.mutate, ...group.tests].find((path) => !existsSync(path))
    if (stray) throw new Error(`${stray}, of ${name}, is not there: correct test/mutants/groups.ts`)
  }
}

async function tryMutants(group: string, options: string[], databaseUrl: string): Promise<void> {
  const command = ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run']
  const words = [...command, 'test/mutants/stryker.config.ts', ...options]
  const env = {
    ...process.env,
    MUTANTS_GROUP: group,
    TEST_DATABASE_URL: databaseUrl,
    // Hundreds of processes load the same files.
    NODE_COMPILE_CACHE: `${process.cwd()}/${REPORTS}/cache`,
  }
  const stryker = spawn(process.execPath, words, { stdio: 'inherit', env })
  const [code] = await once(stryker, 'exit')
  if (code !== 0) throw new Error(`the mutants of ${group} could not be tried`)
}

keepDatabasesInMemory()
const { names, options } = chosen(process.argv.slice(2))
refuseStrays(names)
// One for all: a process that is killed with its mutant would leave its own behind.
const server = await createPostgres()
try {
  await server.start()
  for (const name of names) await tryMutants(name, options, server.url('postgres'))
} finally {
  await server.remove()
}
report(names)
