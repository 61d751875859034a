import { expect, test } from 'vitest'
import { plant } from '../../src/web/rooms/plants.ts'

const DAY_MS = 86_400_000

const drawn = (changes: Partial<Parameters<typeof plant>[0]> = {}): string =>
  String(plant({ id: 'a', identityType: 'ai', symbol: 'vir', ageMs: DAY_MS, ...changes }))

const opacityOf = (svg: string): number => Number(/opacity="([\d.]+)"/.exec(svg)?.[1])

/** How far the stem rises over the ground. */
const heightOf = (svg: string): number => {
  const [ground = 0, top = 0] = /class="stem" d="M\S+ (\S+)Q[^"]* (\S+)"/
    .exec(svg)
    ?.slice(1)
    .map(Number) ?? [0, 0]
  return ground - top
}

test('a plant is the same whenever it is drawn, and no two ids give the same', () => {
  expect(drawn()).toBe(drawn())
  expect(drawn({ id: 'b' })).not.toBe(drawn())
})

test('its leaves say who left it, and its bloom is its symbol', () => {
  expect(drawn({ identityType: 'human' })).not.toBe(drawn())
  expect(drawn({ symbol: 'bil' })).toContain('M5 5l14 14')
  expect(drawn({ symbol: undefined })).toContain('class="bud"')
})

test('it grows for a week, then fades, and never quite goes', () => {
  const ages = [0, 1, 3, 7, 30, 60, 97, 1000].map((days) => drawn({ ageMs: days * DAY_MS }))
  const heights = ages.map(heightOf)
  expect(heights).toEqual(heights.toSorted((a, b) => a - b))
  expect(heights[3]).toBeGreaterThan((heights[0] ?? 0) * 2)
  expect(new Set(heights.slice(3)).size).toBe(1)
  const opacities = ages.map(opacityOf)
  expect(opacities.slice(0, 4)).toEqual([1, 1, 1, 1])
  expect(opacities).toEqual(opacities.toSorted((a, b) => b - a))
  expect(opacities.at(-1)).toBe(0.4)
})
