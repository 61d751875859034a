/** What a contestant is, and the one way in which servers are loaded. */
import type { ChildProcess } from 'node:child_process'
import type { Cell, Operation, Sample } from '../load/dialect.ts'
import type { Approach } from '../load/generator.ts'
import type { Generator } from '../load/handle.ts'
import { cpuSeconds, stop } from '../process.ts'

export interface Running {
  readonly measure: (cell: Cell) => Promise<Sample>
  readonly stop: () => Promise<void>
}

export interface Contestant {
  readonly name: string
  /** Of ours and of a peer, which stand side by side: whether what it answered is on the disk. */
  readonly synced?: boolean
  /** Only these, where it has not all of them. */
  readonly operations?: readonly Operation[]
  /** What is not installed, if anything. */
  readonly missing: () => string | undefined | Promise<string | undefined>
  /** Started on an empty directory, and filled. */
  readonly start: (directory: string, generator: Generator) => Promise<Running>
}

/** A sample, with the processor time of the process that is measured. */
export async function costed(
  { pid }: ChildProcess,
  cell: Cell,
  sampled: () => Promise<Sample>,
): Promise<Sample> {
  const before = cpuSeconds(pid)
  const sample = await sampled()
  const after = cpuSeconds(pid)
  if (before === undefined || after === undefined) return sample
  const answers = sample.perSecond * cell.seconds
  return { ...sample, serverMicros: ((after - before) * 1e6) / answers }
}

/** A server that the generator loads. */
export async function loaded(
  name: string,
  approach: Approach,
  generator: Generator,
  child?: ChildProcess,
): Promise<Running> {
  await generator.fill(name, approach)
  return {
    measure(cell) {
      const sampled = () => generator.measure(name, cell)
      return child ? costed(child, cell, sampled) : sampled()
    },
    stop: async () => child && stop(child),
  }
}
