/** SQLite alone, which measures itself in a process of its own. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fullHome } from '../home.ts'
import { FILLED, type Sample } from '../load/dialect.ts'
import { pinned, SERVER_CORE, stop } from '../process.ts'
import { SQLITE } from '../table.ts'
import type { Contestant } from './contestant.ts'

const run = promisify(execFile)

const SCRIPT = fileURLToPath(new URL('sqlite-alone.ts', import.meta.url))

/** As many as the home beside it has. */
const AGENTS = 64

export const sqlite: Contestant = {
  name: SQLITE,
  missing: () => undefined,
  async start(directory) {
    await stop((await fullHome(directory, AGENTS, FILLED)).child)
    const script = [process.execPath, SCRIPT, join(directory, 'home.db')]
    const alone = async (...cell: string[]): Promise<string> => {
      const [program = '', ...args] = pinned(SERVER_CORE, [...script, ...cell])
      return (await run(program, args)).stdout
    }
    await alone('age')
    return {
      async measure({ operation, connections, seconds }) {
        const itself = await alone(operation, `${connections}`, `${seconds}`)
        // There is no generator: it measures itself.
        return { ...(JSON.parse(itself) as Sample), generator: 0 }
      },
      stop: async () => {},
    }
  },
}
