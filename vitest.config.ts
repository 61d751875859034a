import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // `npm run check` leaves out process/, browser/ and answers/: what starts a process of its own.
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/totals.ts'],
    globalSetup: ['test/postgres/setup.ts'],
    pool: 'forks',
    // The files of a worker share their modules: no module of ours keeps anything of a service.
    isolate: false,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    maxWorkers: 2,
    // Only against a hang: what a test measures, it measures itself, on however busy a machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
