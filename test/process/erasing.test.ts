/** The same as in test/store/erasing.test.ts, for as long as `npm run check` must not take. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stepsOf, tryErasing } from '../store/erasing.ts'

test('no byte of what was erased is in any file, however long the home lived', async () => {
  let looks = 0
  await fc.assert(
    fc.asyncProperty(stepsOf(1_200), fc.boolean(), async (steps, busy) => {
      looks += await tryErasing(steps, busy)
    }),
    { numRuns: 5, endOnFailure: true },
  )
  expect(looks).toBeGreaterThan(500)
})
