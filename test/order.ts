/** The order of the files: lint, then what starts processes, for a long test at the end is waited for alone. */
import { matchesGlob } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What starts a process of its own. */
export const SLOW = 'test/{process,browser,answers,strangers}/**'

const FIRST = ['**/test/lint.test.ts', '**/test/system/**', `**/${SLOW}`]

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = FIRST.findIndex((pattern) => matchesGlob(moduleId, pattern))
      return place === -1 ? FIRST.length : place
    }
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
