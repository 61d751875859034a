/**
 * dist/ as a package of its own: what tsc made of the sources, with a manifest that points to it.
 * The workspace itself is run from its sources, so nothing has to be built to work on it.
 */
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import manifest from './package.json' with { type: 'json' }

/**
 * The same declarations for CommonJS: it requires the same modules (Node.js 20.19 and later), but
 * TypeScript's `node16` takes no types of modules for them.
 */
const RELATIVE = /(['"]\.[^'"]*)\.ts(['"])/g

for (const file of globSync('dist/**/*.d.ts')) {
  const text = readFileSync(file, 'utf8').replace(RELATIVE, '$1.cts$2')
  writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), text)
}

const built = (source: string, ending: string): string =>
  source.replace('./src/', './').replace(/\.ts$/, ending)

const { private: _private, scripts: _scripts, devDependencies: _tools, exports, ...rest } = manifest

const entries = Object.entries(exports).map(([name, source]) => [
  name,
  {
    require: { types: built(source, '.d.cts'), default: built(source, '.js') },
    types: built(source, '.d.ts'),
    default: built(source, '.js'),
  },
])

/** `main` and `types` are for tools that do not read `exports`. */
const packed = {
  ...rest,
  sideEffects: false,
  main: './index.js',
  types: './index.d.ts',
  exports: Object.fromEntries(entries),
}
writeFileSync('dist/package.json', `${JSON.stringify(packed, undefined, 2)}\n`)
copyFileSync('README.md', 'dist/README.md')
copyFileSync('../../LICENSE', 'dist/LICENSE')
