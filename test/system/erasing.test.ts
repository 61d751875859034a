/** The same as in test/store/erasing.test.ts, for as long as `npm run check` must not take. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../effort.ts'
import { stepsOf, tryErasing } from '../store/erasing.ts'

test.each([
  ['however long the home lived', { steps: 1_200, bytes: 0, numRuns: times(3) }],
  ['however large the file is', { steps: 240, bytes: 48_000_000, numRuns: 1 }],
])('no byte of what was erased is in any file, %s', async (_, { steps: most, bytes, numRuns }) => {
  let looks = 0
  await fc.assert(
    fc.asyncProperty(stepsOf(most), fc.boolean(), async (steps, busy) => {
      looks += await tryErasing(steps, { busy, bytes })
    }),
    { numRuns, endOnFailure: true },
  )
  expect(looks).toBeGreaterThan(20)
})
