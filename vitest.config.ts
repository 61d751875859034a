import { randomInt } from 'node:crypto'
import { defaultExclude, defineConfig } from 'vitest/config'
import { keepDatabasesInMemory } from './test/files.ts'
import SlowFirst, { LONG, SLOW } from './test/order.ts'
import { LONG_TEST_MS, POLL_MS, TEST_MS } from './test/timeouts.ts'

/** What needs minutes: kills over and over, fail-overs, memory limits, builds and packages. */
const SYSTEM = 'test/system/**'

/** What every way to the store promises: `npm run test:system` tries it through poolers. */
const CONTRACTS = [
  'test/store/**/*contract.test.ts',
  'test/store/{import-meanwhile,search/kept-index}.test.ts',
  'test/{process/pooled,postgres/round-trips}.test.ts',
]

/** What is promised many times over: `npm test` has an eighth of it (test/effort.ts). */
const AT_LENGTH = [
  'test/process/{hook,mcp-tools,nodes,python-client,sync,users}.test.ts',
  'test/{home/{memory-races,model,memories/context},cli/sync-model}.test.ts',
  'test/client/adapters/langgraph-{graphs,store}.test.ts',
  'test/rights/{guards,rights}.test.ts',
  'test/store/{words,memories/{counters,plan},search/fold}.test.ts',
  'test/strangers/hostile-{bodies,home,requests}.test.ts',
]

/** What needs PostgreSQL. */
const POSTGRES = 'test/postgres/**'

type Run = 'check' | 'test' | 'system' | 'hunt'

interface Files {
  readonly include?: readonly string[]
  readonly exclude: readonly string[]
}

/** Which files a run has, by its mode: `npm test` has none. */
const runs: Readonly<Record<Run, Files>> = {
  check: { exclude: [SLOW, SYSTEM, POSTGRES, ...LONG] },
  test: { exclude: [SYSTEM] },
  system: { include: [`${SYSTEM}/*.test.ts`, ...AT_LENGTH, ...CONTRACTS], exclude: [] },
  hunt: { exclude: [] },
}

const isRun = (mode: string): mode is Run => mode in runs

export default defineConfig(({ mode }) => {
  const run = isRun(mode) ? mode : 'test'
  const timeout = run === 'test' || run === 'check' ? TEST_MS : LONG_TEST_MS
  const { include = ['test/**/*.test.ts'], exclude } = runs[run]
  keepDatabasesInMemory()
  // What random tests draw from; one run after the other draws the same.
  process.env.TEST_SEED ??= String(run === 'hunt' ? randomInt(2 ** 31) : 47)
  // Each store starts a thread, and each thread loads the same files.
  process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/node_modules/.cache/compiled`
  return {
    test: {
      include: [...include],
      exclude: [...defaultExclude, ...exclude],
      reporters: ['default', './test/totals.ts'],
      // Node loads TypeScript by itself, three times as fast, and keeps what it compiled.
      experimental: { viteModuleRunner: false },
      provide: { run },
      setupFiles: ['test/seed.ts'],
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
      testTimeout: timeout,
      hookTimeout: timeout,
      expect: { poll: { timeout: POLL_MS } },
    },
  }
})
