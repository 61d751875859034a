/** Completion for bash. */
import type { Command } from '../command.ts'
import {
  type Completed,
  completed,
  firstWords,
  followers,
  secondWords,
  type Word,
} from './words.ts'

const list = (words: readonly string[]): string => `"${words.join(' ')}"`

const listOf = (words: readonly Word[]): string => list(words.map(({ word }) => word))

const seconds = (table: readonly Command[]): string =>
  [...secondWords(table)]
    .map(([first, words]) => `    ${first}) words=${listOf(words)} ;;\n`)
    .join('')

const following = ({ name, options }: Completed): string[] =>
  options.flatMap((option) => {
    const follow = followers(option)
    const at = `    "${name} --${option.name}")`
    if (follow === 'files') return [`${at} compopt -o default; return ;;\n`]
    return follow.length > 0 ? [`${at} words=${list(follow)} ;;\n`] : []
  })

function own({ name, options, takesFiles, values }: Completed): string {
  const flags = options.map((option) => `--${option.name}`)
  return `    "${name}") words=${list([...values, ...flags])}${takesFiles ? ' files=1' : ''} ;;\n`
}

export const bash = (table: readonly Command[]): string => `# bash completion for agent-home
_agent_home() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  local name="\${COMP_WORDS[1]}" words="" files=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${listOf(firstWords(table))} -- "$current"))
    return
  fi
  case "$name" in
${seconds(table)}  esac
  if [ -n "$words" ] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  [ -n "$words" ] && name="$name \${COMP_WORDS[2]}"
  words=""
  case "$name $previous" in
${completed(table).flatMap(following).join('')}  esac
  if [ -z "$words" ]; then
    case "$name" in
${completed(table).map(own).join('')}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$files" ] && [ "\${current#-}" = "$current" ]; then compopt -o default; fi
}
complete -F _agent_home agent-home
`
