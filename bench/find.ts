/**
 * Does a question in a sentence find what answers it, how long does it take, and what do others
 * wait who read meanwhile?
 *
 *   node bench/find.ts [--quick]
 *
 * LOCOMO names a directory that holds the public set where it is not to be downloaded.
 */
import { recall } from './find/recall.ts'
import { type SpeedPlan, speed } from './find/speed.ts'
import { startHome } from './home.ts'
import { describeMachine, onDisk } from './machine.ts'
import { pinSelf, stop } from './process.ts'
import { type Finding, publishFinding } from './result.ts'

const recallOnDisk = (): Promise<Finding> =>
  onDisk(async (directory) => {
    const { child, url } = await startHome(directory)
    try {
      return await recall(url)
    } finally {
      await stop(child)
    }
  })

export async function finding(plan: SpeedPlan): Promise<Finding> {
  const found = [await recallOnDisk(), await onDisk((directory) => speed(directory, plan))]
  return {
    part: ['### find', ...found.map(({ part }) => part)].join('\n\n'),
    goals: found.flatMap(({ goals }) => goals),
  }
}

export const findPlan = (quick: boolean): SpeedPlan =>
  quick ? { times: 100, cold: 3, built: 1 } : { times: 1_000, cold: 10, built: 5 }

if (import.meta.main) {
  pinSelf()
  const machine = await describeMachine()
  const found = await finding(findPlan(process.argv.includes('--quick')))
  publishFinding('find', 'Questions, and what others notice', machine, found)
  process.exit(0)
}
