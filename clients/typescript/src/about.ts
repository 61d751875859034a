/** That an answer is about the memory that was asked for: a proxy may mix up two answers. */
import { HomeError } from './errors.ts'
import type { BatchReceipt, Operation } from './wire.ts'

interface Named {
  readonly key: string
}

const DETAIL =
  'The answer is about another memory than the one that was asked for, and nothing of it is returned. Whatever is between this program and the home mixes up answers: check it before you go on. If a change was asked for, read what became of it.'

/** Throws HomeError `other_memory`. */
export function about<Found extends Named>(key: string, found: Found | undefined): Found {
  if (found?.key === key) return found
  throw new HomeError({ status: 0, code: 'other_memory', detail: DETAIL })
}

function keyAfter(operation: Operation): string {
  if ('rename' in operation) return operation.rename.to
  const [{ key }] = Object.values(operation) as [Named]
  return key
}

/** Throws HomeError `other_memory`. A read of a batch finds null where nothing is. */
export function aboutAll<Results extends readonly BatchReceipt[]>(
  operations: readonly Operation[],
  results: Results,
): Results {
  for (const [at, operation] of operations.entries()) {
    const result = results[at]
    if (result && 'memory' in result && result.memory === null && 'read' in operation) continue
    const found = result && ('deleted' in result ? result.deleted : result.memory)
    about(keyAfter(operation), found ?? undefined)
  }
  return results
}
