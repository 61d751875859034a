/**
 * The last line of a run, alone and plain: how many tests passed, failed and were skipped. Runs that
 * name the same file in TEST_TOTALS are added up there.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

const states = ['passed', 'failed', 'skipped'] as const

const count = (modules: readonly TestModule[], state: (typeof states)[number]): number =>
  modules.flatMap((module) => [...module.children.allTests(state)]).length

/** What failed outside of any test: a file that could not be loaded, or a hook. */
const broken = (modules: readonly TestModule[]): number =>
  modules
    .flatMap((module) => [module, ...module.children.allSuites()])
    .filter((group) => group.errors().length > 0).length

type Totals = readonly [passed: number, failed: number, skipped: number]

/** With the runs before this one, if there are any. */
function addedUp(totals: Totals): Totals {
  const file = process.env.TEST_TOTALS
  if (!file) return totals
  appendFileSync(file, `${totals.join(' ')}\n`)
  const rows = readFileSync(file, 'utf8').trim().split('\n')
  const sum = (column: number): number =>
    rows.reduce((total, row) => total + Number(row.split(' ')[column]), 0)
  return [sum(0), sum(1), sum(2)]
}

export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const [ran, failures, left] = states.map((state) => count(modules, state))
    const allFailed = (failures ?? 0) + broken(modules) + unhandled.length
    const [passed, failed, skipped] = addedUp([ran ?? 0, allFailed, left ?? 0])
    const tail = skipped ? `, ${skipped} skipped` : ''
    process.on('exit', () => {
      process.stdout.write(`Random tests: TEST_SEED=${process.env.TEST_SEED}\n`)
      process.stdout.write(`${passed} passed, ${failed} failed${tail}\n`)
    })
  }
}
