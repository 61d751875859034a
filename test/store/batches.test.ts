/** How items are parted: as many to a batch as fit, and no more. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitsOne, portionsOf, type Weight } from '../../src/store/batches.ts'
import { times } from '../effort.ts'

/** Of which some fill a batch to its last version or byte. */
const weight = fc.record({
  versions: fc.constantFrom(0, 1, 49, 50, 51, 99, 100, 101),
  bytes: fc.constantFrom(0, 1, 262_143, 262_144, 262_145, 524_287, 524_288, 524_289),
})

const fits = (items: readonly Weight[]): boolean => items.length < 2 || fitsOne(items)

test('a batch holds all that fit, in order, and one that is too large for any is alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(weight, { maxLength: 12 }), async (items) => {
      const portions = await Array.fromAsync(portionsOf(items, (item) => item))
      expect(portions.flatMap((portion) => portion.items)).toEqual(items)
      for (const [at, portion] of portions.entries()) {
        expect(fits(portion.items)).toBe(true)
        const [next] = portions[at + 1]?.items ?? []
        if (next) expect(fits([...portion.items, next])).toBe(false)
        expect([portion.isFirst, portion.isLast]).toEqual([at === 0, at === portions.length - 1])
      }
      expect(portions.length === 1).toBe(fits(items))
    }),
    { numRuns: times(400) },
  )
  expect(fitsOne([{ versions: 100, bytes: 524_288 }])).toBe(true)
  expect(fitsOne([{ versions: 101, bytes: 0 }])).toBe(false)
  expect(fitsOne([{ versions: 0, bytes: 524_289 }])).toBe(false)
})
