/** All commands: help, parsing and completion derive from this list. */
import type { Command, Ungrouped } from './command.ts'
import { completionCommand } from './completion.ts'
import { hostCommands } from './host/host-commands.ts'
import { agentCommands } from './remote/agent-commands.ts'

const grouped = (group: string, table: readonly Ungrouped[]): readonly Command[] =>
  table.map((command) => ({ ...command, group }))

const serve: Ungrouped = {
  name: 'serve',
  summary: 'serve; what runs where no command is given',
  plain: true,
  load: async () => (await import('./serve.ts')).serveCommand,
}

const completion: Ungrouped = {
  name: 'completion',
  summary: 'what a shell needs to complete these commands',
  details:
    'Prints a script for bash, zsh or fish, which runs agent-home for each completion. For bash: source <(agent-home completion bash). For zsh and fish: save it where the shell looks for completions.',
  parameters: [{ name: 'SHELL', completes: ['bash', 'zsh', 'fish'] }],
  plain: true,
  load: async () => completionCommand,
}

const SERVICE = 'The service:'

export const commands: readonly Command[] = [
  ...grouped(SERVICE, [serve]),
  ...grouped('On the host’s data, by whoever owns the host:', hostCommands),
  ...grouped('In a home, with its tokens:', agentCommands),
  ...grouped(SERVICE, [completion]),
]
