/**
 * The whole error catalogue. Every refusal the service can give is a row here: `docs/errors.md`,
 * the OpenAPI description and the pages at `/problems/<code>` are derived from it.
 * `detail` says what the caller should do next.
 */
import { fields } from './fields.ts'

export interface CatalogueEntry {
  readonly status: number
  readonly title: string
  readonly detail: string
}

export const catalogue = {
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    detail:
      'Send a well-formed HTTP/1.1 request with one valid Host header; its path and headers in UTF-8, without NUL.',
  },
  duplicate_header: {
    status: 400,
    title: 'A header was sent twice',
    detail: 'Send Authorization, Content-Type and Idempotency-Key at most once each.',
  },
  token_in_query: {
    status: 400,
    title: 'A token was sent in the address',
    detail:
      'Send the token in the Authorization header as "Bearer <token>", never in the query string. Rotate it if it was logged on the way.',
  },
  invalid_query: {
    status: 400,
    title: 'A query parameter is not valid',
    detail: 'Correct the parameters named in errors and send the request again.',
  },
  body_incomplete: {
    status: 400,
    title: 'The body ended before it was whole',
    detail: 'Send the whole body on a connection that stays open until the answer.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not acceptable JSON',
    detail:
      'Send one UTF-8 JSON value: no duplicate or __proto__ keys, no lone surrogates or NUL, at most 32 levels deep, 4096 keys and 32768 values; a number of at most 400 characters, its exponent of at most 6 digits.',
  },
  wrong_media_type: {
    status: 400,
    title: 'The body is not sent as JSON',
    detail: 'Send the body as JSON with "Content-Type: application/json".',
  },
  oversized_body: {
    status: 400,
    title: 'The body is larger than any that fits the schema',
    detail: 'Send a smaller body.',
  },
  malformed_form: {
    status: 400,
    title: 'The form is not readable',
    detail: 'Open the page again and send its form as it is.',
  },
  invalid_body: {
    status: 400,
    title: 'The body does not fit the schema',
    detail: 'Correct the properties named in errors and send the request again.',
  },
  invalid_last_event_id: {
    status: 400,
    title: 'Last-Event-ID is not the id of an event',
    detail: 'Send the id of the last event you saw, or leave the header out to begin with now.',
  },
  precondition_mismatch: {
    status: 400,
    title: 'If-Match and expectedVersion disagree',
    detail: 'Send the same version in If-Match and expectedVersion, or leave If-Match out.',
  },
  credentials_missing: {
    status: 401,
    title: 'No credentials',
    detail: 'Send "Authorization: Bearer <token>" with the agent token or the operator token.',
  },
  invalid_token: {
    status: 401,
    title: 'The token is not valid',
    detail:
      'Check the token for typing errors. If the agent key was rotated, use the token that the rotation returned.',
  },
  key_expired: {
    status: 401,
    title: 'The named key has expired',
    detail: 'Ask the operator for another key: this one was given until a time that has passed.',
  },
  invalid_idempotency_key: {
    status: 401,
    title: 'The Idempotency-Key is missing or malformed',
    detail:
      'Send an Idempotency-Key header of 64 lowercase hex characters (32 random bytes). Keep it secret: it is a credential.',
  },
  wrong_password: {
    status: 401,
    title: 'The e-mail address and password do not match',
    detail: 'Send the password of the existing operator account, or another e-mail address.',
  },
  passkey_refused: {
    status: 401,
    title: 'The passkey is not accepted',
    detail:
      'Nothing was done. Try it once more, or sign in with the password: the passkey may have been removed, or the page was open for too long.',
  },
  insufficient_scope: {
    status: 403,
    title: 'This needs the operator token',
    detail:
      'Ask the operator: only the operator token may change what the agent is and who may act for it.',
  },
  key_out_of_reach: {
    status: 403,
    title: 'The named key does not reach this',
    detail:
      'Use a memory key that starts with the prefix of this named key, or ask the operator for one that reaches further.',
  },
  key_read_only: {
    status: 403,
    title: 'The named key may only read',
    detail: 'Nothing was written. Ask the operator for a named key with write access.',
  },
  agent_paused: {
    status: 403,
    title: 'The agent is paused',
    detail:
      'Stop and ask the operator to set the status to active. The agent token may still read its profile.',
  },
  origin_denied: {
    status: 403,
    title: 'This origin is not allowed',
    detail:
      'Call from the service’s own origin or from a program without an Origin header, or have the operator of the service add the origin to ALLOWED_ORIGINS.',
  },
  signed_out: {
    status: 403,
    title: 'You are signed out',
    detail:
      'Nothing was changed. Sign in: that leads back to the page you came from, whose form can be sent again.',
  },
  address_denied: {
    status: 403,
    title: 'This address may not read the metrics',
    detail:
      'Ask the machine itself by its address and past every proxy, or have METRICS_FROM list your address.',
  },
  not_found: {
    status: 404,
    title: 'Nothing is here',
    detail: 'See /llms.txt for how to come in, and /openapi.json for every path of this service.',
  },
  memory_not_found: {
    status: 404,
    title: 'No memory under this key',
    detail: 'Check the key, or create the memory by writing it with expectedVersion 0.',
  },
  version_not_found: {
    status: 404,
    title: 'The memory has no such version',
    detail:
      'There is no text of this version: it never was, or it is a delete. List the versions with GET /api/agents/me/memory/versions.',
  },
  key_not_found: {
    status: 404,
    title: 'The agent has no such named key',
    detail: 'GET /api/agents/me/keys lists those that it has. One that was ended is gone.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This method is not for this path',
    detail: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    detail:
      'Send the whole request within 15 seconds; an import may take longer while it keeps coming.',
  },
  import_conflict: {
    status: 409,
    title: 'Memories are there already',
    detail:
      'Nothing was imported. The keys in conflicts have memories: send the same with onConflict=skip to leave them, or with onConflict=replace to make the imported texts their next versions.',
  },
  version_conflict: {
    status: 409,
    title: 'The memory has another version',
    detail:
      'Nothing was written. Read the memory, reconcile your text with it, and write with its version as expectedVersion. If sameContent is true, your write is already there.',
  },
  key_taken: {
    status: 409,
    title: 'The new key is taken',
    detail:
      'Nothing was renamed. A memory is under the new key, or versions of one that was deleted there are kept: choose another key, or let the operator erase what is kept.',
  },
  version_current: {
    status: 409,
    title: 'The current version cannot be erased by its number',
    detail:
      'Nothing was erased. Leave the current version out, or erase the whole memory with "all".',
  },
  batch_conflict: {
    status: 409,
    title: 'Some operations cannot be made',
    detail:
      'Nothing was changed. Each operation that cannot be made is named in conflicts, with its place in the list: correct those and send all of them again.',
  },
  birth_conflict: {
    status: 409,
    title: 'This Idempotency-Key was used for another birth',
    detail: 'Repeat the very same body to replay it, or use a fresh Idempotency-Key.',
  },
  credentials_rotated: {
    status: 409,
    title: 'The credentials of this birth were rotated',
    detail:
      'Use the tokens that the rotation or the replacement returned; this birth can no longer be replayed.',
  },
  attached_elsewhere: {
    status: 409,
    title: 'The agent belongs to another account',
    detail: 'Sign in to the account that holds the agent. An agent is in one account at most.',
  },
  form_sent_before: {
    status: 409,
    title: 'The form was sent before',
    detail:
      'Nothing was changed now. What the form made was shown then, once. If it is lost, fill in the form that is on the page now.',
  },
  version_gone: {
    status: 410,
    title: 'The version is no longer kept',
    detail:
      'It was erased, or gave way to newer ones. List what is kept with GET /api/agents/me/memory/versions.',
  },
  link_void: {
    status: 410,
    title: 'The link is void',
    detail:
      'It was used, it is older than half an hour, or there is a newer one. Ask whoever owns the host for another: agent-home account recover.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'Send a smaller body.',
  },
  text_too_large: {
    status: 413,
    title: 'The text is too large',
    detail: `Send at most ${fields.text.maxBytes} UTF-8 bytes of text; split longer texts over several keys.`,
  },
  metadata_too_large: {
    status: 413,
    title: 'The metadata is too large',
    detail: `Send metadata of at most ${fields.metadata.maxBytes} bytes as serialized UTF-8 JSON.`,
  },
  answer_too_large: {
    status: 413,
    title: 'The answer would be too large',
    detail:
      'Nothing was changed. Read fewer memories at once, or send "Prefer: return=minimal": what is saved then comes without its text and metadata.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not JSON',
    detail: 'Send the body as JSON with "Content-Type: application/json".',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'Wait for the seconds in Retry-After. The limits are in /api/agents/preview.',
  },
  import_running: {
    status: 429,
    title: 'Another import into this agent is under way',
    detail: 'Wait until it is answered, and look at what is there before you send another.',
  },
  export_running: {
    status: 429,
    title: 'Another export of this agent is under way',
    detail:
      'Read it to its end, or close its connection. One export of an agent is sent at a time.',
  },
  memory_quota_reached: {
    status: 429,
    title: 'The agent keeps all that it may',
    detail:
      'Nothing was written, and waiting does not help. Delete memories that are no longer needed, or shorten them; GET /api/agents/preview shows how many and how many bytes an agent may keep.',
  },
  key_quota_reached: {
    status: 429,
    title: 'The agent has all the named keys it may have',
    detail: 'End one that is no longer used: DELETE /api/agents/me/keys/{id}. Nothing was made.',
  },
  too_many_failures: {
    status: 429,
    title: 'Too many failed authentications from this address',
    detail: 'Wait for the seconds in Retry-After and correct the credentials before trying again.',
  },
  too_many_wrong_passwords: {
    status: 429,
    title: 'Too many wrong passwords for this account',
    detail:
      'Wait for the seconds in Retry-After, or sign in from an address that the account was signed in from before.',
  },
  too_many_sign_ins: {
    status: 429,
    title: 'This account was signed in to too often',
    detail: 'Go on with a session that you have, or wait for the seconds in Retry-After.',
  },
  header_too_large: {
    status: 431,
    title: 'The headers are too large',
    detail: 'Send less than 16 KiB of headers.',
  },
  internal: {
    status: 500,
    title: 'Something failed here',
    detail: 'This is our fault. Report the instance; the log holds the cause under it.',
  },
  home_disabled: {
    status: 503,
    title: 'The agent home is not enabled',
    detail: 'Ask the operator of this service; HOME_ENABLED is false here.',
  },
  births_disabled: {
    status: 503,
    title: 'Births are not enabled',
    detail: 'Ask the operator of this service; BIRTHS_ENABLED is false here.',
  },
  passwords_busy: {
    status: 503,
    title: 'Too many passwords are being checked',
    detail: 'Send the same request again after the seconds in Retry-After.',
  },
  stopping: {
    status: 503,
    title: 'The process is stopping',
    detail: 'Send the request again after the seconds in Retry-After; another process may take it.',
  },
  storage_unavailable: {
    status: 503,
    title: 'The store does not answer',
    detail: 'Nothing was written. Send the same request again after the seconds in Retry-After.',
  },
  storage_full: {
    status: 503,
    title: 'There is no room to store more',
    detail:
      'Nothing was written; what is stored can be read. Send the same request again after the seconds in Retry-After. The operator of this service must make room on its disk: births and the gateway give way first, memories last.',
  },
  outcome_unknown: {
    status: 503,
    title: 'The write may or may not have happened',
    detail:
      'The store failed while it committed. Read what is there before you write again. Memory writes and births are safe to repeat as they were.',
  },
  imports_busy: {
    status: 503,
    title: 'Too much is being imported',
    detail:
      'Send the request again after the seconds in Retry-After: there is no room now for what is being sent. One address has a share of the room, its exports included.',
  },
  exports_busy: {
    status: 503,
    title: 'Too much is being exported',
    detail:
      'Send the request again after the seconds in Retry-After: other exports wait for their readers. One address has a share of the room: read those that were begun to their end.',
  },
  export_ended: {
    status: 503,
    title: 'An erasure ended the export',
    detail:
      'Some of what was being exported was erased meanwhile. Export again to get what is there now.',
  },
  too_many_streams: {
    status: 503,
    title: 'Too many streams from this address',
    detail:
      'Close a stream that is no longer read, then open this one again. STREAMS_PER_ADDRESS says how many one address may hold at once.',
  },
  overloaded: {
    status: 503,
    title: 'Too many requests are waiting',
    detail: 'Nothing was written. Send the same request again after the seconds in Retry-After.',
  },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof catalogue

export interface Fault {
  /** JSON pointer (RFC 6901) into the body, or the query parameter as `?name`. */
  readonly pointer: string
  readonly message: string
}

export interface ProblemExtras {
  readonly detail?: string
  readonly errors?: readonly Fault[]
  /** Further members of the problem object, such as `currentVersion`. */
  readonly members?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Why, for the log alone. */
  readonly cause?: unknown
}

/** An expected refusal. Thrown by handlers, rendered by `pipeline/problem.ts`. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly extras: ProblemExtras

  constructor(code: ErrorCode, extras: ProblemExtras) {
    super(extras.detail ?? catalogue[code].detail, { cause: extras.cause })
    this.name = 'Problem'
    this.code = code
    this.extras = extras
  }

  get status(): number {
    return catalogue[this.code].status
  }
}

/** Throw what this returns: `throw problem('invalid_token')`. */
export const problem = (code: ErrorCode, extras: ProblemExtras = {}): Problem =>
  new Problem(code, extras)
