/** Before `npm start`: builds `dist/` again where something that it is made of is newer. */
import { globSync, statSync } from 'node:fs'

const builtAt = statSync('dist/main.js', { throwIfNoEntry: false })?.mtimeMs ?? 0

// Directories too: a file that is gone is a change of its directory.
const madeOf = globSync(['src', 'src/**', 'rolldown.config.ts', 'package-lock.json'])

if (madeOf.some((path) => statSync(path).mtimeMs > builtAt)) {
  process.stderr.write('Building dist/, for its sources are newer.\n')
  const { build } = await import('rolldown')
  const { default: parts } = await import('./rolldown.config.ts')
  // One after the other: the first empties the place.
  for (const part of parts) await build(part)
}
