/** `agent-home restore`: restores an earlier version as a new one. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'
import { expectedOrCurrent, versionGiven } from './versions.ts'
import { saved } from './write.ts'

export async function restoreCommand(given: Given): Promise<Report> {
  const [key = '', of] = given.args
  const version = versionGiven('VERSION', of) ?? 0
  const memory = await atHome(given, async (home) => {
    const expectedVersion = await expectedOrCurrent(given, home, key)
    return home.restore(key, version, { expectedVersion })
  })
  return saved(memory)
}
