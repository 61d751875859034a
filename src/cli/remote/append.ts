/** `agent-home append`: appends text to a memory, or creates it. */
import type { Given, Report } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'
import { textGiven } from './text.ts'
import { expected } from './versions.ts'
import { saved } from './write.ts'

export async function appendCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [key = ''] = given.args
  const text = await textGiven(given, 1, terminal)
  const version = expected(given)
  const options = version === undefined ? {} : { expectedVersion: version }
  return saved(await atHome(given, (home) => home.append(key, text, options)))
}
