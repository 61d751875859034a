/** What random tests draw from. TEST_SEED repeats a run: it is the same in each, but in `npm run hunt`. */
import fc from 'fast-check'

export const seed = Number(process.env.TEST_SEED)

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })

/** Small, and the same for a seed: mulberry32. */
export function dice(from = seed): (sides: number) => number {
  let state = from >>> 0
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}
