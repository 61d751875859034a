/** The order of the files: what starts processes first, for a long test at the end is waited for alone. */
import { matchesGlob } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What starts a process of its own. */
export const SLOW = 'test/{process,browser,answers,strangers}/**'

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => matchesGlob(moduleId, `**/${SLOW}`)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}
