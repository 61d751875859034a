/** The words that can follow `agent-home`, derived from the list of commands. */
import type { Command, Option } from '../command.ts'
import { optionsOf } from '../parse.ts'

export interface Word {
  readonly word: string
  readonly summary: string
}

export interface Completed {
  /** `gateway list`. */
  readonly name: string
  readonly options: readonly Option[]
  readonly takesFiles: boolean
  /** Values of its first parameter. */
  readonly values: readonly string[]
}

function completedOf(command: Command): Completed {
  const { name, parameters = [] } = command
  const offers = parameters.map(({ completes = [] }) => completes)
  const [first = []] = offers
  const values = first === 'files' ? [] : first
  return { name, options: optionsOf(command), takesFiles: offers.includes('files'), values }
}

export const completed = (table: readonly Command[]): Completed[] => table.map(completedOf)

/** First words, each once. */
export function firstWords(table: readonly Command[]): Word[] {
  const groups = Map.groupBy(table, ({ name }) => name.split(' ')[0] ?? '')
  return [...groups].map(([word, commands]) => ({
    word,
    summary: commands.map(({ summary }) => summary).join('; '),
  }))
}

/** Second words by first. */
export function secondWords(table: readonly Command[]): Map<string, Word[]> {
  const words = new Map<string, Word[]>()
  for (const { name, summary } of table) {
    const [first = '', second] = name.split(' ')
    if (second) words.set(first, [...(words.get(first) ?? []), { word: second, summary }])
  }
  return words
}

/** What can follow an option. */
export const followers = ({ choices, completes }: Option): 'files' | readonly string[] =>
  completes ?? choices ?? []
