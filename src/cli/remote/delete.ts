/** `agent-home delete`: deletes a memory, which can be restored. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'
import { expectedOrCurrent } from './versions.ts'

export async function deleteCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const deleted = await atHome(given, async (home) => {
    const expectedVersion = await expectedOrCurrent(given, home, key)
    return home.delete(key, { expectedVersion })
  })
  const text = `${key} is deleted, which is version ${deleted.version}. agent-home restore ${key} ${deleted.version - 1} brings it back.\n`
  return { value: { deleted }, text }
}
