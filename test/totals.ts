/** The last line of a run, alone and plain: how many tests passed, failed and were skipped. */
import type { Reporter, TestModule } from 'vitest/node'

const states = ['passed', 'failed', 'skipped'] as const

const count = (modules: readonly TestModule[], state: (typeof states)[number]): number =>
  modules.flatMap((module) => [...module.children.allTests(state)]).length

/** What failed outside of any test: a file that could not be loaded, or a hook. */
const broken = (modules: readonly TestModule[]): number =>
  modules
    .flatMap((module) => [module, ...module.children.allSuites()])
    .filter((group) => group.errors().length > 0).length

export default class Totals implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const [passed, failed, skipped] = states.map((state) => count(modules, state))
    const allFailed = (failed ?? 0) + broken(modules) + unhandled.length
    const tail = skipped ? `, ${skipped} skipped` : ''
    process.on('exit', () => {
      process.stdout.write(`${passed} passed, ${allFailed} failed${tail}\n`)
    })
  }
}
