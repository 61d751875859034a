/** What the client waits for, by the timers that it sets. */
import { onTestFinished, vi } from 'vitest'

/**
 * Milliseconds of each timer that the client set since then. Services that the files of a worker
 * share set timers of their own meanwhile.
 */
export function watchWaits(): () => readonly number[] {
  const waits: number[] = []
  const set = globalThis.setTimeout
  const watched = (what: () => void, ms?: number, ...given: unknown[]) => {
    if (new Error().stack?.includes('/clients/typescript/src/')) waits.push(ms ?? 0)
    return set(what, ms, ...given)
  }
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(watched as typeof set)
  onTestFinished(() => timers.mockRestore())
  return () => waits
}
