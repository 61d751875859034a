/** A tool: its description, input, output and handler, and the texts that results share. */
import type { z } from 'zod'
import type { Home } from '../../home/home.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Memory } from '../../store/port/memories.ts'
import { iso } from '../../time.ts'

/** The caller, and the arguments as sent. */
export interface Caller {
  readonly home: Home
  /** The client as it is counted for limits. */
  readonly client: string
  readonly identity: Identity
  /** An Idempotency-Key, for a tool that takes one. Throws `malformed_idempotency_key`. */
  readonly once: () => string | undefined
  /** The validated JSON as it was sent. */
  readonly source: string
}

/** The result twice: as text for models, as a value for programs. */
export interface ToolResult {
  readonly text: string
  /** As JSON. */
  readonly json: string
}

export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** What a call costs, as over HTTP. */
  readonly budget: 'reads' | 'writes'
  /** Removes something. A write does not: the replaced version stays in the history. */
  readonly destructive: boolean
  /** Called again with the same arguments it changes nothing more. */
  readonly idempotent: boolean
  readonly input: Input
  /** Throws problems. */
  run(sent: z.output<Input>, caller: Caller): Promise<ToolResult>
}

/** A read-only tool. */
export const reading = { budget: 'reads', destructive: false, idempotent: true } as const

/** A memory's key, version and time, before its text. */
export const headline = ({
  key,
  version,
  updatedAt,
}: Pick<Memory, 'key' | 'version' | 'updatedAt'>): string =>
  `${key}, version ${version}, ${iso(updatedAt)}`

/** A text, or its beginning. */
interface Beside {
  readonly key: string
  readonly version: number
  readonly text?: string | undefined
  readonly snippet?: string | undefined
}

const besideText = ({ key, version, text, snippet = '' }: Beside): string =>
  `${key}, version ${version}${text === undefined ? ', its beginning' : ''}: ${text ?? snippet}`

/** A line for each memory that stands beside a result. */
export const besideLines = ({
  before = [],
  after = [],
}: {
  readonly before?: readonly Beside[] | undefined
  readonly after?: readonly Beside[] | undefined
}): readonly string[] => [
  ...before.map((each) => `Before it, ${besideText(each)}`),
  ...after.map((each) => `After it, ${besideText(each)}`),
]

/** Undefined if none is missing. */
export const missingText = (missing: readonly string[] = []): string | undefined =>
  missing.length > 0 ? `No memory has: ${missing.join(', ')}.` : undefined

/** One line per item, and how to get more. */
export const linesOf = (
  lines: readonly string[],
  none: string,
  ...more: readonly (string | undefined)[]
): string =>
  [...(lines.length > 0 ? lines : [none]), ...more.filter((line) => line !== undefined)].join('\n')
