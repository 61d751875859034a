/** What a file holds, as a memory: the home keeps no empty text and none over its limit. */
import { HomeError } from '../errors.ts'
import type { Memory, Metadata } from '../wire.ts'

const EMPTY = '\n'

const MOST_BYTES = 16_384

export const textIn = ({ text, metadata }: Pick<Memory, 'text' | 'metadata'>): string =>
  metadata.empty === true && text === EMPTY ? '' : text

export const bytesIn = ({ bytes, metadata }: { bytes: number; metadata: Metadata }): number =>
  metadata.empty === true && bytes === EMPTY.length ? 0 : bytes

export function contentOf(text: string, { empty: _empty, ...metadata }: Metadata) {
  return text === '' ? { text: EMPTY, metadata: { ...metadata, empty: true } } : { text, metadata }
}

/** What the model is told of a write that the home refused as too large; everything else as it is. */
export function tooLarge(path: string, error: unknown): unknown {
  if (!(error instanceof HomeError) || error.status !== 413) return error
  if (error.code === 'metadata_too_large') return new Error(`The path ${path} is too long`)
  return new Error(
    `The file ${path} was not changed: it would be larger than ${MOST_BYTES} bytes of UTF-8, the most that one file can hold. Split it into several files.`,
  )
}
