/** SQLite alone, which measures itself in a process of its own. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Sample } from '../load/dialect.ts'
import { pinned, SERVER_CORE } from '../process.ts'
import type { Contestant } from './contestant.ts'

const run = promisify(execFile)

const SCRIPT = fileURLToPath(new URL('sqlite-alone.ts', import.meta.url))

export const sqlite: Contestant = {
  name: 'SQLite alone',
  missing: () => undefined,
  async start(directory) {
    const file = join(directory, 'alone.db')
    const script = [process.execPath, SCRIPT, file]
    return {
      async measure({ operation, connections, seconds }) {
        const cell = [operation, `${connections}`, `${seconds}`]
        const [program = '', ...args] = pinned(SERVER_CORE, [...script, ...cell])
        const { stdout } = await run(program, args)
        // There is no generator: it measures itself.
        return { ...(JSON.parse(stdout) as Sample), generator: 0 }
      },
      stop: async () => {},
    }
  },
}
