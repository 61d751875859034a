/** The required Node.js version. */

const OLDEST_MAJOR = 24

/** The first release with an SQLite whose write-ahead log is safe (3.51.3). */
const FIRST_MINOR = new Map([
  [24, 15],
  [25, 9],
])

/** Runs the command on a newer Node.js, wherever npx finds it: installed here, or for everybody. */
const REMEDY = 'npx -p node@26 agent-home'

/**
 * What is wrong with this version, as a sentence; the same as `engines` in package.json. `version`:
 * as in `process.versions.node`.
 */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major >= OLDEST_MAJOR && minor >= (FIRST_MINOR.get(major) ?? 0)) return undefined
  const [oldest, next] = [...FIRST_MINOR].map((line) => line.join('.'))
  return `This is Node.js ${version}, and Agent Home needs ${oldest} or newer (of 25, ${next} or newer): ${REMEDY} runs it on one.`
}
