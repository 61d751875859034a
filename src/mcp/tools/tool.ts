/** One of the home's verbs as a tool: what an agent is told of it, sends for it and gets from it. */
import type { z } from 'zod'
import type { Home } from '../../home/home.ts'
import type { Identity } from '../../store/port/home.ts'

/** Who calls, and what was written as the arguments. */
export interface Caller {
  readonly home: Home
  /** As clients are counted. */
  readonly client: string
  readonly identity: Identity
  /** The JSON that was validated, as it was sent. */
  readonly source: string
}

/** The same twice: for whoever reads text, and for whoever reads values. */
export interface Told {
  readonly text: string
  /** As JSON, fitting the tool's `output`. */
  readonly json: string
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** What a call costs, as the same request costs it over HTTP. */
  readonly budget: 'reads' | 'writes'
  /** Takes away what was there. A write does not: what it replaces stays in the history. */
  readonly destructive: boolean
  /** Called again with the same arguments it changes nothing more. */
  readonly idempotent: boolean
  readonly input: Input
  readonly output: z.ZodObject
  /** Throws problems. */
  run(sent: z.output<Input>, caller: Caller): Promise<Told>
}

/** A tool that changes nothing. */
export const reading = { budget: 'reads', destructive: false, idempotent: true } as const
