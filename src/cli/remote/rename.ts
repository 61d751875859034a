/** `agent-home rename`: gives a memory another key. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'
import { expectedOrCurrent } from './versions.ts'
import { saved } from './write.ts'

export async function renameCommand(given: Given): Promise<Report> {
  const [from = '', to = ''] = given.args
  return saved(
    await atHome(given, async (home) => {
      const expectedVersion = await expectedOrCurrent(given, home, from)
      return home.rename(from, to, { expectedVersion })
    }),
  )
}
