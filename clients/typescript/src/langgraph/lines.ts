/** What is kept of a checkpoint: lines of JSON, itself and what was written to it. */
import type { Checkpoint } from '@langchain/langgraph-checkpoint'
import { contend } from '../fitting/contend.ts'
import { withPieces, writePieces } from '../fitting/in-batches.ts'
import { fresh } from '../fitting/names.ts'
import { bytesOf, pieces } from '../fitting/pieces.ts'
import type { AgentHome, Operation } from '../index.ts'
import type { Packed, PackedByName } from './packed.ts'

/** A checkpoint, with the values that are its own. */
export interface CheckpointLine {
  readonly checkpoint: Omit<Checkpoint, 'channel_values'>
  readonly metadata: Packed
  readonly parent?: string | undefined
  readonly values: PackedByName
  /** Of each other channel that has a value, the checkpoint that has it among its own. */
  readonly holders: Readonly<Record<string, string>>
}

/** What one task wrote. */
export interface WritesLine {
  readonly task: string
  readonly path: string
  /** Milliseconds: what is overwritten is older. */
  readonly at: number
  readonly writes: readonly (readonly [channel: string, index: number, value: Packed])[]
}

/** A line that is too long lies in memories of its own. */
export interface PartsLine {
  readonly parts: string
  readonly of: 'checkpoint' | 'writes'
  readonly count: number
}

export type Line = CheckpointLine | WritesLine | PartsLine

export const isOfCheckpoint = (line: Line): boolean =>
  'parts' in line ? line.of === 'checkpoint' : 'checkpoint' in line

export const linesIn = (text: string): string[] => text.split('\n').filter((line) => line !== '')

export const partKey = (key: string, parts: string, at: number | ''): string =>
  `${key}.${parts}.${at}`

/** Bytes of a line beside which others have room in one memory. */
const LONGEST: Readonly<Record<PartsLine['of'], number>> = { checkpoint: 12_288, writes: 4_096 }

/** A line as it stands in a memory, ended. */
export interface LineText {
  readonly text: string
  /** How the keys of its parts begin. */
  readonly under: readonly string[]
}

/** The parts of a long one are written first: nobody sees them until the line is there. */
export async function lineFor(
  home: AgentHome,
  key: string,
  of: PartsLine['of'],
  line: CheckpointLine | WritesLine,
): Promise<LineText> {
  const json = JSON.stringify(line)
  if (bytesOf(json) <= LONGEST[of]) return { text: `${json}\n`, under: [] }
  return contend(() => spread(home, key, of, pieces(json)), 'again')
}

async function spread(
  home: AgentHome,
  key: string,
  of: PartsLine['of'],
  texts: readonly string[],
): Promise<LineText> {
  const parts = fresh(3)
  const under = [partKey(key, parts, '')]
  const writes = texts.map(
    (text, at): Operation => ({
      write: { key: partKey(key, parts, at), text, expectedVersion: 0 },
    }),
  )
  await withPieces(
    home,
    () => under,
    () => writePieces(home, writes),
  )
  const line: PartsLine = { parts, of, count: texts.length }
  return { text: `${JSON.stringify(line)}\n`, under }
}
