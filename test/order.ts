/** The order of the files: what starts processes first, for a long test at the end is waited for alone. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const SLOW = /\/test\/(process|browser|answers|strangers)\//

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}
