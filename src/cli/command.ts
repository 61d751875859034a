/** The declaration of a command, for parsing, help, completion and execution. */
import type { Exit } from './exit-codes.ts'
import type { Facts } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface Parameter {
  /** As shown in help: `FILE`. */
  readonly name: string
  readonly optional?: boolean
  /** What a shell completes for it. */
  readonly completes?: 'files' | readonly string[]
}

export interface Option {
  /** Without dashes. */
  readonly name: string
  /** As shown in help; an option without a value is a flag. */
  readonly value?: string
  readonly summary: string
  /** The allowed values. */
  readonly choices?: readonly string[]
  readonly completes?: 'files'
  readonly required?: boolean
}

/** The parsed arguments, under the declared names. */
export interface Arguments {
  /** One per parameter; undefined if omitted. */
  readonly args: readonly (string | undefined)[]
  /** The values of given options. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
}

/** Says something beside the result, on standard error: a sentence, or with `--json` a line of JSON. */
export type Notice = (sentence: string, facts?: Facts) => void

/** The parsed arguments, and how to speak with the person while the command runs. */
export interface Given extends Arguments {
  readonly notice: Notice
  /** Asks a question. Throws Failure unless the answer is yes, or `--yes` was given. */
  readonly confirm: (question: string) => Promise<void>
}

/** The result of a command. */
export interface Report {
  /** For `--json`. */
  readonly value: unknown
  /** For people, on standard output: whole lines. */
  readonly text: string
  /** For people, on standard error. */
  readonly note?: string
  readonly exit?: Exit
}

/** Throws errors known to `failure.ts`. Undefined: it has already written its output. */
export type Run = (given: Given, terminal: Terminal) => Promise<Report | undefined>

export interface Command {
  /** One word, or two: `gateway list`. */
  readonly name: string
  /** The heading under which help lists it. */
  readonly group: string
  readonly summary: string
  /** A longer description for its help. */
  readonly details?: string
  readonly parameters?: readonly Parameter[]
  readonly options?: readonly Option[]
  /** What it destroys or revokes cannot be brought back: it asks first, unless `--yes` is given. */
  readonly destroys?: true
  /** Its exit code is 0 whatever happens: a program that runs it takes others for a refusal. */
  readonly neverFails?: true
  /** Loads only what this command needs. */
  readonly load: () => Promise<Run>
}

/** A row of a table whose commands share a group. */
export type Ungrouped = Omit<Command, 'group'>
