/** Problems as application/problem+json (RFC 9457), and the mapping of thrown errors to problems. */
import { z } from 'zod'
import { type CatalogueEntry, catalogue, type ErrorCode, Problem, problem } from '../errors.ts'
import { type Answer, answer, type Call, commonHeaders } from '../http/call.ts'
import {
  OutcomeUnknown,
  StorageFull,
  StoreOverloaded,
  StoreUnavailable,
} from '../store/port/errors.ts'

export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: 'A page about this kind of problem.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What went wrong and what to do next.' }),
    instance: z.string().meta({ description: 'The request id, also in X-Request-Id.' }),
    code: z.string().meta({ description: 'Stable and machine-readable.' }),
    errors: z
      .array(z.object({ pointer: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Each error with its JSON pointer: for 400, and for 413 in a batch.' }),
  })
  .meta({ id: 'Problem' })

const PROBLEM_JSON = 'application/problem+json'

const REALM = 'Bearer realm="agent-home"'

/** RFC 6750, section 3: `error` only if a credential was presented. */
const challenges: Partial<Record<ErrorCode, string>> = {
  credentials_missing: REALM,
  invalid_token: `${REALM}, error="invalid_token"`,
  key_expired: `${REALM}, error="invalid_token"`,
  invalid_idempotency_key: REALM,
  wrong_password: REALM,
  passkey_refused: REALM,
  insufficient_scope: `${REALM}, error="insufficient_scope"`,
}

const scopes: Partial<Record<ErrorCode, string>> = { insufficient_scope: 'operator' }

/** Undefined if the error has none. `scope`: what is asked for instead of an operator token. */
export function challengeOf(code: ErrorCode, scope = scopes[code]): string | undefined {
  const challenge = challenges[code]
  return challenge && scope ? `${challenge}, scope="${scope}"` : challenge
}

/** Retry-After for temporary errors. */
const RETRY_AFTER_SECONDS = '1'

/** A full disk needs a person. */
const FULL_RETRY_AFTER = { 'Retry-After': '30' }

function headersOf({ code, status, extras }: Problem): Record<string, string> {
  const challenge = challengeOf(code)
  return {
    ...(challenge && { 'WWW-Authenticate': challenge }),
    ...(status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
    ...extras.headers,
  }
}

export const problemBody = (code: ErrorCode, detail: string, instance: string) => ({
  type: `/problems/${code}`,
  title: catalogue[code].title,
  status: catalogue[code].status,
  detail,
  instance,
  code,
})

/** An example problem, for the documentation. */
export function problemExample(code: ErrorCode) {
  const { detail, members }: CatalogueEntry = catalogue[code]
  return { ...problemBody(code, detail, 'r1-1'), ...members }
}

/** Adds the headers and log notes of an error, whatever its body's format. */
export function noteRefusal(call: Call, refusal: Problem): void {
  Object.assign(call.responseHeaders, headersOf(refusal))
  call.notes.code = refusal.code
}

export function refuse(call: Call, refusal: Problem): Answer {
  const { code, status, extras, message } = refusal
  noteRefusal(call, refusal)
  const body = {
    ...problemBody(code, message, call.id),
    ...(extras.errors && { errors: extras.errors }),
    ...extras.members,
  }
  return answer(call, status, JSON.stringify(body), PROBLEM_JSON)
}

/** For a request that could not be parsed, and so has no call. */
export function refuseUnparsed(code: ErrorCode, id: string): Answer {
  const responseHeaders = { ...commonHeaders(id), Connection: 'close' }
  const { status, detail } = catalogue[code]
  const body = JSON.stringify(problemBody(code, detail, id))
  return answer({ responseHeaders }, status, body, PROBLEM_JSON)
}

/** Errors of any store write. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'storage_unavailable',
  'storage_full',
  'overloaded',
  'outcome_unknown',
]

/** Maps a thrown error to a problem. */
export function explain(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreOverloaded) return problem('overloaded', { cause: error })
  if (error instanceof OutcomeUnknown) return problem('outcome_unknown', { cause: error })
  // Logged without a cause if there is none.
  if (error instanceof StorageFull)
    return problem('storage_full', { headers: FULL_RETRY_AFTER, cause: error.cause })
  if (error instanceof StoreUnavailable) return problem('storage_unavailable', { cause: error })
  return problem('internal', { cause: error })
}
