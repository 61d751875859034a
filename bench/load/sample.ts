/** Latencies and outcomes, gathered while a cell runs. */
import type { Sample } from './dialect.ts'

export type Outcome = 'saved' | 'conflict' | 'failed'

export interface Gathering {
  readonly add: (latencyMs: number, outcome: Outcome) => void
  readonly finish: () => Sample
}

export const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0

export const median = (values: readonly number[]): number =>
  quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )

export function gather(): Gathering {
  const latencies: number[] = []
  const count = { saved: 0, conflict: 0, failed: 0 }
  const startedAt = performance.now()
  const cpuAt = process.cpuUsage()
  return {
    add(latencyMs, outcome) {
      latencies.push(latencyMs)
      count[outcome]++
    },
    finish() {
      const elapsedMs = performance.now() - startedAt
      const { user, system } = process.cpuUsage(cpuAt)
      latencies.sort((a, b) => a - b)
      return {
        perSecond: (latencies.length / elapsedMs) * 1_000,
        savedPerSecond: (count.saved / elapsedMs) * 1_000,
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        failed: count.failed,
        generator: (user + system) / 1_000 / elapsedMs,
      }
    },
  }
}
