/** The Node.js that runs us. */

const OLDEST_MAJOR = 24

/** The first of a line that brings an SQLite which keeps its write-ahead log whole (3.51.3). */
const FIRST_MINOR = new Map([
  [24, 15],
  [25, 9],
])

/**
 * What is wrong with this version, in a sentence: package.json says the same in `engines`.
 * `version`: as `process.versions.node` has it.
 */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= OLDEST_MAJOR && minor >= (FIRST_MINOR.get(major) ?? 0)) return undefined
  const [oldest, next] = [...FIRST_MINOR].map((line) => line.join('.'))
  return `This is Node.js ${version}, and Agent Home needs ${oldest} or newer (of 25, ${next} or newer).`
}
