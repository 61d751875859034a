/** `dist/`: the program and all that it needs in a few files, which start sooner than hundreds. */
import { cpSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type BuildOptions, defineConfig } from 'rolldown'

/** Modules that browsers ask for one by one. */
const browser = readdirSync('src/web/browser').map((file) => basename(file, '.ts'))

/** Two of them: modules of the server, and of browsers. */
export const buildInto = (directory: string): BuildOptions[] => [
  {
    input: {
      main: 'src/main.ts',
      // Threads of their own, so files of their own.
      'backup-thread': 'src/store/sqlite/rest/backup-thread.ts',
      'writer-thread': 'src/store/sqlite/engine/writer-thread.ts',
      'search-thread': 'src/store/sqlite/engine/search-thread.ts',
    },
    platform: 'node',
    // Nothing of ours has it, and the driver does without.
    external: ['pg-native'],
    output: { dir: directory, cleanDir: true, chunkFileNames: '[name].js' },
  },
  {
    input: Object.fromEntries(browser.map((name) => [name, `src/web/browser/${name}.ts`])),
    platform: 'browser',
    plugins: [
      {
        name: 'stylesheet',
        writeBundle: () =>
          cpSync('src/web/layout/style', join(directory, 'style'), { recursive: true }),
      },
    ],
    output: { dir: join(directory, 'browser') },
  },
]

export default defineConfig(buildInto('dist'))
