/** The Node.js that runs us. */

/** As package.json says in `engines`: what the service is made of is in no older one. */
const OLDEST_MAJOR = 24
const OLDEST_MINOR = 7

/** What is wrong with this version, in a sentence. `version`: as `process.versions.node` has it. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) return undefined
  const oldest = `${OLDEST_MAJOR}.${OLDEST_MINOR}`
  return `This is Node.js ${version}, and Agent Home needs ${oldest} or newer. Beside the sources, npm ci brings one and npm start uses it.`
}
