/** All commands: help, parsing and completion derive from this list. */
import type { Command, Ungrouped } from './command.ts'
import { completionCommand } from './completion.ts'
import { hostCommands } from './host/host-commands.ts'
import { agentCommands } from './remote/agent-commands.ts'

const grouped = (group: string, table: readonly Ungrouped[]): readonly Command[] =>
  table.map((command) => ({ ...command, group }))

const serve: Ungrouped = {
  name: 'serve',
  summary: 'start the service; the default command',
  load: async () => (await import('./serve.ts')).serveCommand,
}

const completion: Ungrouped = {
  name: 'completion',
  summary: 'print a shell completion script',
  details:
    'Prints a script for bash, zsh or fish, which runs agent-home for each completion. For bash: source <(agent-home completion bash). For zsh and fish: save it where the shell looks for completions.',
  parameters: [{ name: 'SHELL', completes: ['bash', 'zsh', 'fish'] }],
  load: async () => completionCommand,
}

const SERVICE = 'The service:'

export const commands: readonly Command[] = [
  ...grouped(SERVICE, [serve]),
  ...grouped('For the operator of the host, on its data:', hostCommands),
  ...grouped('For agents and their operators, with a token:', agentCommands),
  ...grouped(SERVICE, [completion]),
]
