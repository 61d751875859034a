/** Problem -> application/problem+json (RFC 9457). */
import { catalogue, type ErrorCode, type Problem } from '../errors.ts'
import { type Answer, answer, type Call } from '../http/call.ts'

const REALM = 'Bearer realm="agent-home"'

/** RFC 6750, section 3: `error` only where a credential was presented. */
const challenges: Partial<Record<ErrorCode, string>> = {
  credentials_missing: REALM,
  invalid_token: `${REALM}, error="invalid_token"`,
  invalid_idempotency_key: REALM,
  wrong_password: REALM,
  insufficient_scope: `${REALM}, error="insufficient_scope", scope="operator"`,
}

/** Seconds after which a passing trouble is worth another try. */
const RETRY_AFTER_SECONDS = '1'

const headersOf = ({ code, status, extras }: Problem): Record<string, string> => ({
  ...(challenges[code] && { 'WWW-Authenticate': challenges[code] }),
  ...(status === 503 && { 'Retry-After': RETRY_AFTER_SECONDS }),
  ...extras.headers,
})

export const problemBody = (code: ErrorCode, detail: string, instance: string) => ({
  type: `/problems/${code}`,
  title: catalogue[code].title,
  status: catalogue[code].status,
  detail,
  instance,
  code,
})

/** What a refusal adds to the answer's headers and to the log, in whatever form it is shown. */
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
  return answer(call, status, JSON.stringify(body), 'application/problem+json')
}
