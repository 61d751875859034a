/** Versions over the count that are there before they are given up together: to find them costs a walk. */
export const surplusOf = (versions: number): number => Math.max(8, versions)
