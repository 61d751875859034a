/** How the load generator speaks to one contestant: bytes out, and what the bytes back mean. */

export type Operation = 'create' | 'update' | 'hot' | 'read'

/** What a contestant tells versions apart by. */
export type Version = string | number

export type Written =
  | { readonly is: 'saved'; readonly version: Version }
  /** Undefined where the refusal does not say which version is current. */
  | { readonly is: 'conflict'; readonly current: Version | undefined }
  | { readonly is: 'failed' }

export interface Dialect {
  /** The length of the first whole answer in these bytes, or -1 while it is not all there. */
  readonly frame: (received: Buffer) => number
  /** Keys are numbers; a contestant names them as it likes. */
  readonly create: (key: number, text: string) => string
  readonly update: (key: number, text: string, version: Version) => string
  readonly read: (key: number) => string
  /** `expected` is the version that the write named; undefined for a create. */
  readonly written: (answer: Buffer, expected: Version | undefined) => Written
  /** The version that a read found, or undefined where it failed. */
  readonly found: (answer: Buffer) => Version | undefined
}

export interface Cell {
  readonly operation: Operation
  readonly connections: number
  readonly seconds: number
}

export interface Sample {
  readonly perSecond: number
  /** Of those, writes that were saved and reads that found something. */
  readonly savedPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Answers that were neither success nor conflict: none in a valid run. */
  readonly failed: number
  /** Share of one core that the generator used; near 1 it is what was measured. */
  readonly generator: number
  /** Processor time of the contestant for each answer, in microseconds. */
  readonly serverMicros?: number | undefined
}

/** Keys that every contestant holds before the measurements begin. */
export const FILLED = 1_024

export const TEXT_BYTES = 1_024

const filler = 'The plan of a long migration, kept where the next run will find it. '.repeat(16)

/** One kilobyte, different from write to write. */
export const textOf = (count: number): string => {
  const head = `${count} `
  return head + filler.slice(0, TEXT_BYTES - head.length)
}
