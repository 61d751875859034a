/** Completion for fish. */
import type { Command, Option } from '../command.ts'
import {
  type Completed,
  completed,
  firstWords,
  followers,
  secondWords,
  type Word,
} from './words.ts'

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

const line = (when: string, more: string): string =>
  `complete -c agent-home -n ${quoted(when)} ${more}\n`

const offered = (when: string, { word, summary }: Word): string =>
  line(when, `-f -a ${word} -d ${quoted(summary)}`)

/** Positions distinguish commands from keys with the same name. */
const within = (name: string): string => `__agent_home_in ${name}`

const IN = `function __agent_home_in
  set -l words (commandline -opc)
  set -l last (math 1 + (count $argv))
  test "$words[2..$last]" = "$argv"
end
`

const taking = (option: Option): string => {
  if (option.value === undefined) return ''
  const follow = followers(option)
  return follow === 'files' ? ' -rF' : ` -x -a ${quoted(follow.join(' '))}`
}

const optionLine = (when: string, option: Option): string =>
  line(when, `-l ${option.name} -d ${quoted(option.summary)}${taking(option)}`)

const seconds = (table: readonly Command[]): string[] =>
  [...secondWords(table)].flatMap(([first, words]) => {
    const when = `${within(first)}; and test (count (commandline -opc)) -eq 2`
    return words.map((word) => offered(when, word))
  })

const own = ({ name, options, takesFiles, values }: Completed): string[] => [
  ...options.map((option) => optionLine(within(name), option)),
  ...values.map((word) => offered(within(name), { word, summary: '' })),
  ...(takesFiles ? [line(within(name), '-F')] : []),
]

export const fish = (table: readonly Command[]): string =>
  [
    '# fish completion for agent-home\ncomplete -c agent-home -f\n',
    IN,
    ...firstWords(table).map((word) => offered('__fish_use_subcommand', word)),
    ...seconds(table),
    ...completed(table).flatMap(own),
  ].join('')
