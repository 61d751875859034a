/** Failures of a command, and their exit codes. */
import { EXIT, type Exit } from './exit-codes.ts'

export type Facts = Readonly<Record<string, string | number | readonly string[]>>

interface FailureOptions extends ErrorOptions {
  readonly facts?: Facts
}

/** The `code` of a failure that names none of its own. */
const CODES: Readonly<Record<Exit, string>> = {
  [EXIT.done]: 'done',
  [EXIT.failed]: 'failed',
  [EXIT.usage]: 'usage',
  [EXIT.conflict]: 'conflict',
  [EXIT.missing]: 'not_found',
  [EXIT.refused]: 'refused',
  [EXIT.later]: 'unavailable',
  [EXIT.unread]: 'unread',
}

/** An expected failure: only its message is shown. */
export class Failure extends Error {
  override name = 'Failure'
  readonly exit: Exit
  /** For programs. */
  readonly facts: Facts
  constructor(exit: Exit, message: string, { facts = {}, ...options }: FailureOptions = {}) {
    super(message, options)
    this.exit = exit
    this.facts = { code: CODES[exit], ...facts }
  }
}

export const usage = (message: string): Failure => new Failure(EXIT.usage, message)

export const missing = (message: string): Failure => new Failure(EXIT.missing, message)

/** What is told of an error: with a stack trace if it was unexpected. */
export async function explain(
  error: unknown,
): Promise<{ message: string; exit: Exit; facts: Facts }> {
  if (error instanceof Failure) return error
  const { advice } = await import('./advice.ts')
  const { message, code } = advice(error) ?? {
    message: String((error as Error).stack),
    code: 'unexpected',
  }
  return { message, exit: EXIT.failed, facts: { code } }
}

/** The error of a command as standard error shows it. */
export async function errorText(
  error: unknown,
  asJson: boolean,
): Promise<{ text: string; exit: Exit }> {
  const { message, exit, facts } = await explain(error)
  const text = asJson ? JSON.stringify({ error: message, ...facts, exit }) : message
  return { text: `${text}\n`, exit }
}
