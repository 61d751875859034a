/** Zod's issues -> JSON pointers (RFC 6901), for bodies and queries. */
import type { z } from 'zod'
import { type Fault, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { queryOf } from '../http/target.ts'
import { pointerOf } from '../json/pointer.ts'

function faults(error: z.ZodError): Fault[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          pointer: pointerOf([...issue.path, key]),
          message: 'is not a known property; leave it out',
        }))
      : [{ pointer: pointerOf(issue.path), message: issue.message }],
  )
}

/** Throws `invalid_body`, each fault with its pointer. */
export function validateBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw problem('invalid_body', { errors: faults(parsed.error) })
}

/** Throws `invalid_query`: a parameter that is wrong, unknown or sent twice. */
export function validateQuery<S extends z.ZodType>(schema: S, call: Call): z.output<S> {
  const parsed = schema.safeParse(queryOf(call.search))
  if (parsed.success) return parsed.data
  const errors = faults(parsed.error).map(({ pointer: at, message }) => ({
    pointer: `?${at.slice(1)}`,
    message,
  }))
  throw problem('invalid_query', { errors })
}
