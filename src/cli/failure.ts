/** Failures of a command, and their exit codes. */
import { EXIT, type Exit } from './exit-codes.ts'

type Facts = Readonly<Record<string, string | number>>

interface FailureOptions extends ErrorOptions {
  readonly facts?: Facts
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
    this.facts = facts
  }
}

export const usage = (message: string): Failure => new Failure(EXIT.usage, message)

/** A given exit code, or the one for the error. */
export function wholeNumber(
  name: string,
  given: string | undefined,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const number = given === undefined ? otherwise : Number(given)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw usage(`--${name} must be a whole number from ${least} to ${most}.`)
}

export const missing = (message: string): Failure => new Failure(EXIT.missing, message)

/** The message, with a stack trace if it was unexpected. */
export async function explain(
  error: unknown,
): Promise<{ message: string; exit: Exit; facts?: Facts }> {
  if (error instanceof Failure) return error
  const { advice } = await import('./advice.ts')
  return { message: advice(error) ?? String((error as Error).stack), exit: EXIT.failed }
}
