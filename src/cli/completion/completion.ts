/** `agent-home completion`: the completion script of a shell, from the list of commands. */
import type { Command, Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'
import { zsh } from './zsh.ts'

const scripts: Readonly<Record<string, (table: readonly Command[]) => string>> = {
  bash,
  zsh,
  fish,
}

export async function completionCommand({ args: [shell = ''] }: Given): Promise<Report> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (!script) throw usage(`Name a shell: ${Object.keys(scripts).join(', ')}.`)
  // The list also contains this command.
  const { commands } = await import('../commands.ts')
  const text = script(commands)
  return { value: { shell, script: text }, text }
}
