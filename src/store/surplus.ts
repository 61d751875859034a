/** What is given up beyond what had to be, alike for every engine: to find it costs a walk. */

/** Versions over the count that are there before they are given up together: to find them costs a walk. */
export const surplusOf = (versions: number): number => Math.max(8, versions)

/** Versions that may be given up ahead, the oldest first, until a home holds a 64th less than it may. */
export const AHEAD = 64

/** What is left of a home that was over its bytes, where no more than AHEAD versions are given up. */
export const roomOf = (bytes: number): number => bytes - Math.floor(bytes / 64)
