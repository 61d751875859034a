/** Zod's issues -> JSON pointers (RFC 6901), for bodies and queries. */
import type { z } from 'zod'
import { catalogue, type Fault, type ProblemExtras, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { firstFaults } from '../http/json-faults.ts'
import { queryOf } from '../http/target.ts'
import { pointerOf } from '../json/pointer.ts'

/** Nobody reads more, and a list of all would be many times what was sent. */
const MOST_FAULTS = 50

function* faultsOf(issue: z.core.$ZodIssue): Iterable<Fault> {
  if (issue.code !== 'unrecognized_keys') {
    return yield { pointer: pointerOf(issue.path), message: issue.message }
  }
  for (const key of issue.keys) {
    const pointer = pointerOf([...issue.path, key])
    yield { pointer, message: 'is not a known property; leave it out' }
  }
}

function* faultsOfAll(issues: readonly z.core.$ZodIssue[]): Iterable<Fault> {
  for (const issue of issues) yield* faultsOf(issue)
}

const countOf = (issue: z.core.$ZodIssue): number =>
  issue.code === 'unrecognized_keys' ? issue.keys.length : 1

/** The first faults, and a sentence where there are more. */
function faults({ issues }: z.ZodError, code: 'invalid_body' | 'invalid_query'): ProblemExtras {
  const errors = firstFaults(faultsOfAll(issues), MOST_FAULTS)
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0)
  if (count === errors.length) return { errors }
  const named = errors.length === 1 ? 'the first is' : `the first ${errors.length} are`
  return { errors, detail: `${catalogue[code].detail} There are ${count}; ${named} named.` }
}

/** An object without its members that are null. */
export const withoutNulls = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value

/** Throws `invalid_body`, each fault with its pointer. */
export function validateBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw problem('invalid_body', faults(parsed.error, 'invalid_body'))
}

/** Throws `invalid_query`: a parameter that is wrong, unknown or sent twice. */
export function validateQuery<S extends z.ZodType>(schema: S, call: Call): z.output<S> {
  const parsed = schema.safeParse(queryOf(call.search))
  if (parsed.success) return parsed.data
  const { errors = [], ...said } = faults(parsed.error, 'invalid_query')
  const named = errors.map(({ pointer: at, message }) => ({ pointer: `?${at.slice(1)}`, message }))
  throw problem('invalid_query', { errors: named, ...said })
}
