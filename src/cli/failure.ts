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

export const missing = (message: string): Failure => new Failure(EXIT.missing, message)

/** The message, with a stack trace if it was unexpected. */
export async function explain(
  error: unknown,
): Promise<{ message: string; exit: Exit; facts?: Facts }> {
  if (error instanceof Failure) return error
  const { advice } = await import('./advice.ts')
  return { message: advice(error) ?? String((error as Error).stack), exit: EXIT.failed }
}
