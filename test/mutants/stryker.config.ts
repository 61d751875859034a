import type { PartialStrykerOptions } from '@stryker-mutator/api/core'
import { groups } from './groups.ts'
import { reportOf } from './report.ts'

const name = process.env.MUTANTS_GROUP ?? ''

export default {
  mutate: [...(groups[name]?.mutate ?? [])],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutants/vitest.config.ts', related: false, pool: 'forks' },
  coverageAnalysis: 'perTest',
  // TypeScript 7 has no API for what Stryker would do with it.
  tsconfigFile: 'none',
  plugins: ['@stryker-mutator/vitest-runner', './test/mutants/noise.ts'],
  // Descriptions, sentences and names whose wording is no promise: see there.
  ignorers: ['noise'],
  ignorePatterns: ['/bench', '/dist', '/data', '/mutants'],
  // Beyond the tests' own limits, and patient: on a busy machine slow must not pass for hanging.
  timeoutMS: 30_000,
  tempDirName: '.mutants',
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: reportOf(name) },
  allowConsoleColors: false,
} satisfies PartialStrykerOptions
