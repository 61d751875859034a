/**
 * `agent-home completion`: a few lines for each shell, which ask the hidden command `complete` what
 * can follow. All of it derives from the list of commands.
 */
import type { Command, Given, Option, Report } from './command.ts'
import { usage } from './failure.ts'
import { optionsOf } from './parse.ts'

/** The hidden command. Its arguments are the words so far; the last is the one to complete. */
export const COMPLETE = 'complete'

/** Printed first where a file may follow, which the shell completes itself. */
const FILES = ':files'

interface Candidate {
  readonly word: string
  readonly summary: string
}

type Follows = 'files' | readonly Candidate[]

const plain = (words: Option['completes'] | readonly string[]): Follows =>
  typeof words === 'object' ? words.map((word) => ({ word, summary: '' })) : (words ?? [])

const startsWith = (words: readonly string[], name: readonly string[]): boolean =>
  name.every((word, at) => words[at] === word)

/** The next word of the commands whose names start with these words, each once. */
function nextWords(before: readonly string[], table: readonly Command[]): Candidate[] {
  const next = new Map<string, string>()
  for (const { name, summary } of table) {
    const words = name.split(' ')
    const word = words[before.length]
    if (word === undefined || !startsWith(words, before)) continue
    next.set(word, [next.get(word), summary].filter(Boolean).join('; '))
  }
  return [...next].map(([word, summary]) => ({ word, summary }))
}

function argumentsOf(command: Command, before: readonly string[], begun: string): Follows {
  const options = optionsOf(command)
  const option = options.find(({ name, value }) => value && before.at(-1) === `--${name}`)
  if (option) return plain(option.completes ?? option.choices)
  if (begun.startsWith('-')) {
    return options.map(({ name, summary }) => ({ word: `--${name}`, summary }))
  }
  const parameters = (command.parameters ?? []).map(({ completes = [] }) => completes)
  return parameters.includes('files') ? 'files' : plain(parameters[0])
}

/** What can follow, as the stubs read it: a line for each word, with its summary after a tab. */
export function complete(words: readonly string[], table: readonly Command[]): string {
  const [before, begun] = [words.slice(0, -1), words.at(-1) ?? '']
  // `profiles remove` comes after `profiles`, which is a command too.
  const command = table.findLast(({ name }) => startsWith(before, name.split(' ')))
  const next = nextWords(before, table)
  const isOption = begun.startsWith('-')
  const follows =
    command && (isOption || next.length === 0) ? argumentsOf(command, before, begun) : next
  if (follows === 'files') return `${FILES}\n`
  const fitting = follows.filter(({ word }) => word.startsWith(begun))
  return fitting.map(({ word, summary }) => `${word}\t${summary}\n`).join('')
}

const stubs: Readonly<Record<string, string>> = {
  bash: `# bash completion for agent-home
_agent_home() {
  local IFS=$'\\n'
  COMPREPLY=($(agent-home ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  if [ "\${COMPREPLY[0]}" = '${FILES}' ]; then COMPREPLY=(); compopt -o default; fi
}
complete -F _agent_home agent-home
`,
  zsh: `#compdef agent-home
_agent_home() {
  local -a lines
  lines=("\${(@f)$(agent-home ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$lines[1]" == '${FILES}' ]]; then _files; return; fi
  lines=("\${(@)lines//:/\\\\:}")
  lines=("\${(@)lines/$'\\t'/:}")
  _describe 'agent-home' lines
}
if [ "$funcstack[1]" = '_agent_home' ]; then _agent_home "$@"; else compdef _agent_home agent-home; fi
`,
  fish: `# fish completion for agent-home
function __agent_home
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (agent-home ${COMPLETE} $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = '${FILES}'
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c agent-home -f -a '(__agent_home)'
`,
}

export async function completionCommand({ args: [shell = ''] }: Given): Promise<Report> {
  const stub = Object.hasOwn(stubs, shell) ? stubs[shell] : undefined
  if (stub === undefined) throw usage(`Name a shell: ${Object.keys(stubs).join(', ')}.`)
  return { value: { shell, script: stub }, text: stub }
}
