/**
 * How work grows with what it is given, where V8 itself does it (a regular expression, JSON, large
 * numbers) and no steps can be counted (test/counted.ts). It is held against the same work on less,
 * in the same thread, by what the thread had of the processor: neither a slow machine nor a busy one
 * changes that.
 */

/** Linux counts the processor by its ticks, of 4 ms and more. */
const LEAST_MS = 20

const MOST_TIMES = 16_384

const ROUNDS = 4

/** Between what four times the input takes in linear work (4) and in quadratic work (16). */
export const NOT_QUADRATIC = 8

type Work = () => unknown

async function processorMs(work: () => Promise<void>): Promise<number> {
  const from = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(from)
  return (user + system) / 1e3
}

/**
 * How many times as much `larger` takes as `smaller`, which is given a quarter of it: the least of
 * some rounds, which end once it is less than `NOT_QUADRATIC`. `measure`: of the thread that works.
 */
export async function growth(smaller: Work, larger: Work, measure = processorMs): Promise<number> {
  const repeated = (work: Work, times: number) =>
    measure(async () => {
      for (let n = 0; n < times; n++) await work()
    })
  let times = 1
  let least = Infinity
  for (let round = 0; round < ROUNDS && least >= NOT_QUADRATIC; round++) {
    let small = await repeated(smaller, times)
    while (small < LEAST_MS && times < MOST_TIMES) {
      times *= 2
      small = await repeated(smaller, times)
    }
    const few = Math.ceil(times / 4)
    const large = await repeated(larger, few)
    least = Math.min(least, large / few / (Math.max(small, LEAST_MS) / times))
  }
  return least
}
