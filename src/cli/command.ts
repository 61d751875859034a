/** What a command is: to whoever parses it, lists it, completes it or runs it. */
import type { Exit } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface Parameter {
  /** As help shows it: `FILE`. */
  readonly name: string
  readonly optional?: boolean
  /** What a shell completes there. */
  readonly completes?: 'files' | readonly string[]
}

export interface Option {
  /** Without dashes. */
  readonly name: string
  /** As help shows it; an option without one is a flag. */
  readonly value?: string
  readonly summary: string
  /** The values that there are. */
  readonly choices?: readonly string[]
  readonly completes?: 'files'
  readonly required?: boolean
}

/** What was given, as the declaration names it. */
export interface Given {
  /** One for each parameter; undefined where one is left out. */
  readonly args: readonly (string | undefined)[]
  /** Values of options, and only those that were given. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
}

/** What a command found or did. */
export interface Report {
  /** For `--json`. */
  readonly value: unknown
  /** For people, on standard output: whole lines. */
  readonly text: string
  /** For people, beside it: on standard error. */
  readonly note?: string
  readonly exit?: Exit
}

/** Throws what `failure.ts` knows. Undefined: it has said by itself what there was to say. */
export type Run = (given: Given, terminal: Terminal) => Promise<Report | undefined>

export interface Command {
  /** One word, or two: `gateway list`. */
  readonly name: string
  readonly group: string
  readonly summary: string
  /** More of it, in its own help. */
  readonly details?: string
  readonly parameters?: readonly Parameter[]
  readonly options?: readonly Option[]
  /** It has nothing to say that a program would read. */
  readonly plain?: boolean
  /** Loads what it needs, and nothing that others do. */
  readonly load: () => Promise<Run>
}
