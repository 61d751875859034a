/**
 * What the runner does not see by itself. Mutants in a thread of the product: the active one is
 * handed on, and what a thread passes through is credited to the running test. And what a file's
 * hooks pass through belongs to its tests alone, not to all of them. The engines are loaded first,
 * which the product leaves to its hooks: what they do while loading concerns all tests.
 */
import { setEnvironmentData } from 'node:worker_threads'
import fc from 'fast-check'
import { afterAll, beforeAll, inject } from 'vitest'
import '../../src/store/postgres/store.ts'
import '../../src/store/sqlite/store.ts'
import { type Coverage, type Hits, MAX_MUTANTS, namespace, SHARED } from './namespace.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The runner's: it looks once at what each test passes through, then tries the mutants. */
    mode: 'dry-run' | 'mutant'
  }
}

const HOOKS = 'hooks'

function add(counts: Hits, id: string | number, hits = 1): void {
  counts[id] = (counts[id] ?? 0) + hits
}

function countsOf(coverage: Coverage, test: string | undefined): Hits {
  if (test === undefined) return coverage.static
  coverage.perTest[test] ??= {}
  return coverage.perTest[test]
}

/** Counts by test, as the runner counts, and beside it what the threads pass through. */
function watch(threads: Uint8Array, coverage: Coverage): void {
  const tests = new Set<string>()
  let test: string | undefined
  let imported = false
  const current = () => test ?? (imported ? HOOKS : undefined)

  function collect(): void {
    const counts = countsOf(coverage, current())
    threads.forEach((hit, mutant) => {
      if (hit) add(counts, mutant)
    })
    threads.fill(0)
  }

  function begin(next: string | undefined): void {
    collect()
    test = next
    if (next !== undefined) tests.add(next)
  }

  function shareOut(): void {
    const ofHooks = Object.entries(countsOf(coverage, HOOKS))
    delete coverage.perTest[HOOKS]
    for (const id of tests) {
      for (const [mutant, hits] of ofHooks) add(countsOf(coverage, id), mutant, hits)
    }
  }

  Object.defineProperty(namespace(), 'currentTestId', {
    get: current,
    set: begin,
    configurable: true,
  })
  beforeAll(() => {
    imported = true
  })
  afterAll(() => {
    collect()
    shareOut()
  })
}

// The same in each run; and of what was found, the shortest way to it takes long to find.
fc.configureGlobal({ seed: 1, endOnFailure: true })

if (inject('mode') === 'dry-run') {
  const threads = new Uint8Array(new SharedArrayBuffer(MAX_MUTANTS))
  setEnvironmentData(SHARED, threads)
  const space = namespace()
  space.mutantCoverage ??= { static: {}, perTest: {} }
  watch(threads, space.mutantCoverage)
} else {
  beforeAll(() => {
    process.env.__STRYKER_ACTIVE_MUTANT__ = namespace().activeMutant ?? ''
  })
}
