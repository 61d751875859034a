/**
 * dist/ as a package of its own: what tsc made of the sources, with a manifest that points to it.
 * The workspace itself is run from its sources, so nothing has to be built to work on it.
 */
import { copyFileSync, writeFileSync } from 'node:fs'
import manifest from './package.json' with { type: 'json' }

const built = (source: string, ending: string): string =>
  source.replace('./src/', './').replace(/\.ts$/, ending)

const { private: _private, scripts: _scripts, devDependencies: _tools, exports, ...rest } = manifest

const entries = Object.entries(exports).map(([name, source]) => [
  name,
  { types: built(source, '.d.ts'), default: built(source, '.js') },
])

const packed = { ...rest, sideEffects: false, exports: Object.fromEntries(entries) }
writeFileSync('dist/package.json', `${JSON.stringify(packed, undefined, 2)}\n`)
copyFileSync('README.md', 'dist/README.md')
copyFileSync('../LICENSE', 'dist/LICENSE')
