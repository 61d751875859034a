/** How long a request keeps everybody else in the process waiting. */

const TRIES = 20

/** Past every bound: further tries would only take long. */
const HOPELESS_MS = 1_000

/** The least of some tries, for the machine is busy with more than this; less than `bound` will do. */
export async function least(
  bound: number,
  measure: () => number | Promise<number>,
): Promise<number> {
  let found = await measure()
  for (let tries = 1; tries < TRIES && found >= bound && found < HOPELESS_MS; tries++) {
    found = Math.min(found, await measure())
  }
  return found
}

/** What this thread had of the processor so far. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}

/** What one piece of work takes of this thread's time, in milliseconds, as `least` finds it. */
export const leastWork = (bound: number, work: () => void): Promise<number> =>
  least(bound, () => {
    const began = threadMs()
    work()
    return threadMs() - began
  })

/**
 * The longest time, in milliseconds, that one turn of the event loop took while the work was done.
 * It is this thread's own time: what others had of the processor meanwhile does not count.
 */
export async function longestWait(work: () => Promise<void>): Promise<number> {
  let longest = 0
  let done = false
  const watched = (async () => {
    for (let before = threadMs(); !done; ) {
      await new Promise(setImmediate)
      const now = threadMs()
      longest = Math.max(longest, now - before)
      before = now
    }
  })()
  try {
    await work()
  } finally {
    done = true
    await watched
  }
  return longest
}
