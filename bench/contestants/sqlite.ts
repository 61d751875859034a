/** SQLite alone, which measures itself in a process of its own. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fullHome } from '../home.ts'
import { FILLED, type Sample } from '../load/dialect.ts'
import { stop } from '../process.ts'
import { SQLITE } from '../table.ts'
import { printedBy } from './alone.ts'
import type { Contestant } from './contestant.ts'

const SCRIPT = fileURLToPath(new URL('sqlite-alone.ts', import.meta.url))

/** As many as the home beside it has. */
const AGENTS = 64

export const sqlite: Contestant = {
  name: SQLITE,
  missing: () => undefined,
  async start(directory) {
    await stop((await fullHome(directory, AGENTS, FILLED)).child)
    const alone = (...cell: string[]) => printedBy(SCRIPT, join(directory, 'home.db'), ...cell)
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
