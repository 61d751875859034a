/** `agent-home read`: the text of a memory, byte for byte. */
import type { Given, Report } from '../command.ts'
import { missing } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'
import { textShown } from './text.ts'
import { versionGiven } from './versions.ts'

export async function readCommand(given: Given, terminal: Terminal): Promise<Report> {
  const { args, options } = given
  const [key = ''] = args
  const version = versionGiven('--at', options.at)
  const memory = await atHome(given, (home) =>
    home.read(key, version === undefined ? {} : { version }),
  )
  if (!memory) throw missing(`Nothing is under ${key}.`)
  const note = `${key}, version ${memory.version}, ${memory.updatedAt}\n`
  const text = textShown(memory.text, terminal)
  return { value: { memory }, text, ...(terminal.isShown && { note }) }
}
