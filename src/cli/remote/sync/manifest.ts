/** How a file is kept in several memories: their keys, and what the metadata say of them. */
import { createHash } from 'node:crypto'
import type { Metadata } from 'agent-home-client'
import { MOST_PIECES } from './cut.ts'

export interface Manifest {
  /** With the first. */
  readonly count: number
  /** Of the whole text, in UTF-8. */
  readonly bytes: number
  readonly sha256: string
  /** The others are `base.1`, `base.2` and so on. */
  readonly base: string
}

export const manifestOf = (text: string, count: number, base: string): Manifest => ({
  count,
  bytes: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
  base,
})

export function manifestIn({ syncPieces }: Metadata): Manifest | undefined {
  if (typeof syncPieces !== 'object' || syncPieces === null) return undefined
  const { count, bytes, sha256, base } = syncPieces as Partial<Record<keyof Manifest, unknown>>
  const isCount = typeof count === 'number' && Number.isInteger(count)
  if (!isCount || count < 2 || count > MOST_PIECES) return undefined
  if (typeof base !== 'string' || base === '') return undefined
  return { count, bytes: Number(bytes), sha256: String(sha256), base }
}

/** All but the first. */
export const keysUnder = (base: string, count: number): string[] =>
  Array.from({ length: count - 1 }, (_, at) => `${base}.${at + 1}`)

const NUMBERED = /^(.+)\.([1-9]\d?)$/

export const numberOf = (key: string): number => Number(NUMBERED.exec(key)?.[2])

export const baseOf = (key: string): string => NUMBERED.exec(key)?.[1] ?? key

/** What the metadata of a piece say. */
export const markOf = (key: string): Metadata => ({ syncPiece: numberOf(key) })

export const isMarked = (key: string, { syncPiece }: Metadata): boolean =>
  numberOf(key) === syncPiece

/** Of no file, whatever the prefix. */
export const isApart = (base: string): boolean => /(^|\.)sha256\.[0-9a-f]{64}$/.test(base)
