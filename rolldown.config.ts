/** `dist/`: the program and all that it needs in a few files, which start sooner than hundreds. */
import { cpSync, globSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import type { BuildOptions } from 'rolldown'

/** The first modules of threads and of the executable: one file each, which starts soonest. */
const alone = [
  'src/executable.ts',
  'src/store/postgres/postgres-search-thread.ts',
  'src/store/sqlite/search-thread.ts',
  'src/store/sqlite/engine/writer-thread.ts',
  'src/store/sqlite/check/backup-thread.ts',
]

/** Modules that browsers ask for one by one. */
const browser = readdirSync('src/web/browser').map((file) => basename(file, '.ts'))

/** What libraries bring along for other servers and databases than ours: each would load Node's own. */
const FOR_OTHERS = /prom-client\/lib\/(cluster|pushgateway)\.js$/

/** Notices about its options, which tests hold, and about the version of Node.js. */
const NOTICES = /oidc-provider\/lib\/helpers\/attention\.js$/

/** Documents whose code the console shows. */
export const guides = ['docs/mcp.md', 'docs/adapters/*.md']

const parts: BuildOptions[] = [
  {
    logLevel: 'warn',
    // `depd`, which koa brings along, evaluates code that it writes itself.
    checks: { eval: false },
    input: { main: 'src/main.ts' },
    platform: 'node',
    // Its other form loads its parts by a function that no bundler sees through.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    // Nothing of ours has it, and the driver does without.
    external: ['pg-native'],
    plugins: [
      {
        name: 'for-others',
        load: { filter: { id: FOR_OTHERS }, handler: () => 'module.exports = class {}' },
      },
      {
        name: 'silent',
        load: {
          filter: { id: NOTICES },
          handler: () => 'export const info = () => {}\nexport const warn = () => {}',
        },
      },
    ],
    output: { dir: 'dist', cleanDir: true, chunkFileNames: '[name].js' },
  },
  ...alone.map(
    (input): BuildOptions => ({
      logLevel: 'warn',
      input,
      platform: 'node',
      external: ['pg-native'],
      output: { dir: 'dist', codeSplitting: false },
    }),
  ),
  {
    logLevel: 'warn',
    input: Object.fromEntries(browser.map((name) => [name, `src/web/browser/${name}.ts`])),
    platform: 'browser',
    plugins: [
      {
        name: 'read-at-run-time',
        writeBundle() {
          cpSync('src/web/layout/style', 'dist/style', { recursive: true })
          for (const name of ['latin', 'latin-ext', 'cyrillic']) {
            const file = `geist-${name}-wght-normal.woff2`
            cpSync(`node_modules/@fontsource-variable/geist/files/${file}`, `dist/fonts/${file}`)
          }
          // Its licence asks to be where the font is.
          cpSync('node_modules/@fontsource-variable/geist/LICENSE', 'dist/fonts/OFL.txt')
          for (const file of globSync('*/schema.sql', { cwd: 'src/store' })) {
            cpSync(`src/store/${file}`, `dist/${file}`)
          }
          for (const file of globSync(guides)) cpSync(file, `dist/guides/${file}`)
        },
      },
    ],
    output: { dir: 'dist/browser' },
  },
]

export default parts
