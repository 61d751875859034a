/** Completion for zsh. */
import type { Command, Option } from '../command.ts'
import {
  type Completed,
  completed,
  firstWords,
  followers,
  secondWords,
  type Word,
} from './words.ts'

const escaped = (text: string): string => text.replaceAll("'", "'\\''")

/** A colon separates a word from its description. */
const described = (words: readonly Word[]): string =>
  words.map(({ word, summary }) => `'${word}:${escaped(summary.replaceAll(':', '\\:'))}'`).join(' ')

/** Brackets and colons end a description. */
const said = (text: string): string => escaped(text.replace(/[[\]\\:]/g, '\\$&'))

function spec(option: Option): string {
  const { name, value, summary } = option
  const follow = followers(option)
  const words = follow === 'files' ? '_files' : follow.length > 0 ? `(${follow.join(' ')})` : ''
  return `'--${name}[${said(summary)}]${value ? `:${value}:${words}` : ''}'`
}

function own({ name, options, takesFiles, values }: Completed): string {
  const rest = [
    // Without a description of other arguments, zsh would offer no options after a key.
    takesFiles ? "'*:file:_files'" : "'*: :'",
    ...(values.length > 0 ? [`'1:value:(${values.join(' ')})'`] : []),
  ]
  return `    '${name}') _arguments ${[...options.map(spec), ...rest].join(' ')} ;;\n`
}

const seconds = (table: readonly Command[]): string =>
  [...secondWords(table)]
    .map(([first, words]) => `    ${first}) seconds=(${described(words)}) ;;\n`)
    .join('')

export const zsh = (table: readonly Command[]): string => `#compdef agent-home
_agent_home() {
  local -a firsts seconds
  firsts=(${described(firstWords(table))})
  if (( CURRENT == 2 )); then
    _describe 'command' firsts
    return
  fi
  local name="$words[2]"
  case "$name" in
${seconds(table)}  esac
  if (( $#seconds )); then
    if (( CURRENT == 3 )); then
      _describe 'command' seconds
      return
    fi
    name="$name $words[3]"
    shift words
    (( CURRENT-- ))
  fi
  shift words
  (( CURRENT-- ))
  case "$name" in
${completed(table).map(own).join('')}  esac
}
if [ "$funcstack[1]" = '_agent_home' ]; then _agent_home "$@"; else compdef _agent_home agent-home; fi
`
