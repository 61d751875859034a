import { defaultExclude, defineConfig } from 'vitest/config'
import { keepDatabasesInMemory } from './test/files.ts'
import SlowFirst, { SLOW } from './test/order.ts'

/** What needs PostgreSQL, or loads the frameworks that adapters are for. */
const BESIDE = 'test/{postgres,client/adapters}/**'

/** What is left out of a run. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  quick: [SLOW, BESIDE],
  engines: [SLOW],
}

export default defineConfig(({ mode }) => {
  // `npm run check`: quick enough for every commit. `npm run hunt`: random tests take their time.
  const away = leftOut[mode] ?? []
  keepDatabasesInMemory()
  // Each store starts a thread, and each thread loads the same files.
  process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/node_modules/.cache/compiled`
  return {
    test: {
      include: ['test/**/*.test.ts'],
      exclude: [...defaultExclude, ...away],
      reporters: ['default', './test/totals.ts'],
      // Node loads TypeScript by itself, three times as fast, and keeps what it compiled.
      experimental: { viteModuleRunner: false },
      provide: { run: away.length > 0 ? 'check' : mode === 'hunt' ? 'hunt' : 'test' },
      globalSetup: ['test/postgres/setup.ts', 'test/process/bundle.ts'],
      sequence: { sequencer: SlowFirst },
      pool: 'forks',
      // The files of a worker share their modules: no module of ours keeps anything of a service.
      isolate: false,
      // A service begins with much that lives on: from V8's own 1 MiB, a sixth of a run collects it.
      execArgv: [
        '--disable-warning=ExperimentalWarning',
        '--min-semi-space-size=4',
        `--import=${import.meta.dirname}/test/threads.ts`,
      ],
      // One more than the smallest machine has cores: much of a run waits, for a process or a browser.
      maxWorkers: 3,
      // Only against a hang: no test measures time, and a slow machine shares a quarter of a core
      // between three workers.
      testTimeout: 1_800_000,
      hookTimeout: 1_800_000,
      // What is waited for comes, or never does.
      expect: { poll: { timeout: 300_000 } },
    },
  }
})
