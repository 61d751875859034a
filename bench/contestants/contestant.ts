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
  /** Ours, or a peer whose answered writes are on the disk too: they stand side by side. */
  readonly durable?: boolean
  /** Only these, where it has not all of them. */
  readonly operations?: readonly Operation[]
  /** What is not installed, if anything. */
  readonly missing: () => string | undefined
  /** Started on an empty directory, and filled. */
  readonly start: (directory: string, generator: Generator) => Promise<Running>
}

/** A server that the generator loads; its processor time is taken beside each sample. */
export async function loaded(
  name: string,
  approach: Approach,
  generator: Generator,
  child?: ChildProcess,
): Promise<Running> {
  await generator.fill(name, approach)
  return {
    async measure(cell) {
      const before = cpuSeconds(child?.pid)
      const sample = await generator.measure(name, cell)
      const after = cpuSeconds(child?.pid)
      if (before === undefined || after === undefined) return sample
      const answers = sample.perSecond * cell.seconds
      return { ...sample, serverMicros: ((after - before) * 1e6) / answers }
    },
    stop: async () => child && stop(child),
  }
}
