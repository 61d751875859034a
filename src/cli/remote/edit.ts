/** `agent-home edit`: replaces one passage of a memory's text. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'
import { expected } from './versions.ts'
import { saved } from './write.ts'

export async function editCommand(given: Given): Promise<Report> {
  const [key = '', old = '', replacement = ''] = given.args
  const version = expected(given)
  const options = version === undefined ? {} : { expectedVersion: version }
  return saved(await atHome(given, (home) => home.edit(key, old, replacement, options)))
}
