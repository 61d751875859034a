/** Loaded first in every thread of the product: tells the tests which mutants it passes through. */
import { getEnvironmentData, isMainThread } from 'node:worker_threads'
import { namespace, SHARED } from './namespace.ts'

const shared = isMainThread ? undefined : getEnvironmentData(SHARED)

if (shared instanceof Uint8Array) {
  const counts = new Proxy<Record<string, number>>(
    {},
    {
      set(_counts, mutant) {
        shared[Number(mutant)] = 1
        return true
      },
    },
  )
  namespace().mutantCoverage = { static: counts, perTest: {} }
}
