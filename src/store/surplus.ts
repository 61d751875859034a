/**
 * How much is pruned ahead, the same for every engine, because finding old versions is expensive.
 */

/** Versions over the limit before they are pruned together. */
export const surplusOf = (versions: number): number => Math.max(8, versions)

/**
 * Versions that may be pruned ahead, oldest first, until a home holds a 64th less than its limit.
 */
export const AHEAD = 64

/** The target size of a home over its limit, if no more than AHEAD versions are pruned. */
export const roomOf = (bytes: number): number => bytes - Math.floor(bytes / 64)
