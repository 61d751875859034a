/** The tests that hold one group of mutants, in one process, each soon given up on. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { groups } from './groups.ts'
import { AsListed } from './order.ts'

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

export default defineConfig({
  test: {
    include: [...(groups[process.env.MUTANTS_GROUP ?? '']?.tests ?? [])],
    provide: { run: 'check' },
    globalSetup: ['test/postgres/setup.ts'],
    setupFiles: [here('setup.ts')],
    pool: 'forks',
    execArgv: ['--disable-warning=ExperimentalWarning', '--import', here('thread.ts')],
    maxWorkers: 1,
    // Each mutant gets a process of its own, but not each file of its tests: loading takes longest.
    isolate: false,
    // Node loads TypeScript by itself, three times as fast.
    experimental: { viteModuleRunner: false },
    // The runner's own setup file comes before ours.
    sequence: { sequencer: AsListed, setupFiles: 'list' },
    // A mutant that waits for ever fails its test, which is cheaper than losing the whole process.
    testTimeout: 15_000,
    hookTimeout: 15_000,
    teardownTimeout: 2_000,
  },
})
