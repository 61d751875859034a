/** A tool: its description, input, output and handler, and the texts that results share. */
import type { z } from 'zod'
import type { Home } from '../../home/home.ts'
import type { Author, Identity } from '../../store/port/identity.ts'
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
  /** Takes further permits of the tool's budget. If not all are left: throws, and takes none. */
  readonly spendMore: (more: number) => Promise<void>
}

/** The result twice: as text for models, and as a value for programs that ask for it. */
export interface ToolResult {
  readonly text: string
  /** As JSON. */
  readonly json: () => string
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

/** Of what a page is asked for with: each answer says what to send for the next one. */
export const PAGE = { description: 'From the previous page.' }

/** A read-only tool. */
export const reading = { budget: 'reads', destructive: false, idempotent: true } as const

/** A memory's key, version and time, before its text. */
export const headline = ({
  key,
  version,
  updatedAt,
}: Pick<Memory, 'key' | 'version' | 'updatedAt'>): string =>
  `${key}, version ${version}, ${iso(updatedAt)}`

/** UTF-16 units of metadata that are shown among other memories. */
const SHORT = 400

/** Of a memory among others: long metadata is left to `read_memory`. */
export const briefMarks = (metadata: string, isProtected?: boolean): string =>
  metadata.length > SHORT
    ? `, long metadata${marksText('{}', isProtected)}`
    : marksText(metadata, isProtected)

/** What is not the same for most memories. `metadata`: as JSON. */
export const marksText = (metadata: string, isProtected = false): string =>
  `${metadata === '{}' ? '' : `, metadata ${metadata}`}${isProtected ? ', protected: only the operator changes it' : ''}`

/** Who made a change; empty if that was not recorded. */
export const authorText = (by: Author | null | undefined): string =>
  by
    ? `, by the ${by.as}${by.key ? ` (key ${by.key.name})` : ''} through ${by.via}${by.run === undefined ? '' : ` (${by.run})`}`
    : ''

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
