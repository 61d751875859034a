/** Texts of the tools' results. */
import type { Memory } from '../../store/port/keeping/memories.ts'
import { iso } from '../../time.ts'

/** A memory's key, version and time, before its text. */
export const standing = ({
  key,
  version,
  updatedAt,
}: Pick<Memory, 'key' | 'version' | 'updatedAt'>): string =>
  `${key}, version ${version}, ${iso(updatedAt)}`

const metadataLine = ({ metadata }: Memory): string =>
  metadata === '{}' ? '' : `\nmetadata: ${metadata}`

export const wholeText = (memory: Memory): string =>
  `${standing(memory)}${metadataLine(memory)}\n\n${memory.text}`

/** One line per item, and how to get more. */
export const linesOf = (lines: readonly string[], none: string, more: string | undefined): string =>
  [...(lines.length > 0 ? lines : [none]), ...(more ? [more] : [])].join('\n')
