/** A checkpoint as it is read: in one request for all of its memories. */

import { backoff, wait } from '../deadline.ts'
import { all } from '../fitting/listed.ts'
import type { AgentHome, MemorySummary } from '../index.ts'
import { type CheckpointLine, type Line, linesIn, partKey, type WritesLine } from './lines.ts'

export interface Loaded {
  /** Undefined where only writes are. */
  readonly own: CheckpointLine | undefined
  readonly writes: readonly WritesLine[]
}

/** It was changed while it was read. */
export class Torn extends Error {}

const MOST_READS = 5

const BACKOFF = { first: 10, most: 100 }

/** Reads again what somebody else changed meanwhile. Undefined for what gave way in part. */
export async function untorn<T>(read: () => Promise<T>): Promise<T | undefined> {
  for (let reads = 1; ; reads++) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof Torn)) throw error
      if (reads === MOST_READS) return undefined
      await wait(backoff(reads, BACKOFF), undefined)
    }
  }
}

type Texts = ReadonlyMap<string, string>

function whole(line: Line, key: string, texts: Texts): CheckpointLine | WritesLine {
  if (!('parts' in line)) return line
  const { parts, count } = line
  const found = Array.from({ length: count }, (_, at) => texts.get(partKey(key, parts, at)))
  if (found.includes(undefined)) throw new Torn(`parts of ${key} are missing`)
  return JSON.parse(found.join(''))
}

const holdsLines = ({ metadata }: MemorySummary): boolean => metadata.lines === true

/** Undefined where nothing is. Throws Torn. */
export async function load(home: AgentHome, key: string): Promise<Loaded | undefined> {
  const listed = await all(home.list({ prefix: key, view: 'whole' }))
  const memories = listed.filter((each) => each.key === key || each.key.startsWith(`${key}.`))
  const texts = new Map(memories.map((each) => [each.key, each.text ?? '']))
  const head = memories.find((each) => each.key === key)
  const withLines = [head, ...memories.filter(holdsLines)].flatMap((each) => each ?? [])
  const lines = withLines
    .flatMap((each) => linesIn(each.text ?? ''))
    .map((line) => whole(JSON.parse(line), key, texts))
  if (lines.length === 0) return undefined
  return {
    own: lines.find((line) => 'checkpoint' in line),
    writes: lines.filter((line) => 'task' in line),
  }
}
