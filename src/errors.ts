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
  /** Example of the members that only this error has. */
  readonly members?: Readonly<Record<string, unknown>>
}

const RECONCILE =
  'Nothing was written. Read the memory, reconcile your text with it, and write with its version as expectedVersion. If sameContent is true, the stored content already equals what you sent.'

const seenVersion = { currentVersion: 4, updatedAt: '2026-11-21T10:06:00.000Z' } as const

const currentVersion = { ...seenVersion, sameContent: false } as const

export const catalogue = {
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    detail:
      'Send a well-formed HTTP/1.1 request with one valid Host header, and the path as it is documented: without dot segments, backslashes or characters that are not percent-encoded.',
  },
  duplicate_header: {
    status: 400,
    title: 'A header was sent twice',
    detail: 'Send Agent-Run, Authorization, Content-Type and Idempotency-Key at most once each.',
  },
  invalid_agent_run: {
    status: 400,
    title: 'The name of the run is not valid',
    detail:
      'Send Agent-Run with 1 to 80 visible characters in UTF-8; spaces between them are fine. Or leave it out.',
  },
  token_in_query: {
    status: 400,
    title: 'A token was sent in the URL',
    detail:
      'Send the token in the Authorization header as "Bearer <token>", never in the query string. Rotate it if it may have been logged.',
  },
  invalid_query: {
    status: 400,
    title: 'A query parameter is not valid',
    detail: 'Correct the parameters named in errors and send the request again.',
  },
  body_incomplete: {
    status: 400,
    title: 'The body ended early',
    detail: 'Send the complete body, and keep the connection open until the answer arrives.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not acceptable JSON',
    detail:
      'Send one UTF-8 JSON value: no duplicate or __proto__ keys, no lone surrogates or NUL, at most 32 levels deep, 4096 keys and 32768 values; numbers of at most 400 characters, with exponents of at most 6 digits.',
  },
  wrong_media_type: {
    status: 400,
    title: 'The body was not sent as JSON',
    detail: 'Send the body as JSON with "Content-Type: application/json".',
  },
  oversized_body: {
    status: 400,
    title: 'The body is larger than the schema allows',
    detail: 'Send a smaller body.',
  },
  malformed_form: {
    status: 400,
    title: 'The form data is malformed',
    detail: 'Reload the page and submit its form unchanged.',
  },
  invalid_body: {
    status: 400,
    title: 'The body does not match the schema',
    detail: 'Correct the properties named in errors and send the request again.',
  },
  authorization_invalid: {
    status: 400,
    title: 'This request for access is not valid',
    detail:
      'The program that sent you here is not set up correctly. Nothing was permitted. Go back to it, and add this home again.',
  },
  text_empty: {
    status: 400,
    title: 'The edit would leave no text',
    detail: 'Nothing was changed. A text has at least one byte: delete the memory instead.',
  },
  invalid_last_event_id: {
    status: 400,
    title: 'Last-Event-ID is not an event id',
    detail: 'Send the id of the last event you received, or omit the header to start from now.',
  },
  malformed_idempotency_key: {
    status: 400,
    title: 'The Idempotency-Key is malformed',
    detail:
      'Nothing was written. Send an Idempotency-Key of 64 lowercase hex characters (32 random bytes), a new one for each append, or leave the header out.',
  },
  precondition_mismatch: {
    status: 400,
    title: 'If-Match and expectedVersion disagree',
    detail: 'Send the same version in If-Match and expectedVersion, or omit If-Match.',
  },
  credentials_missing: {
    status: 401,
    title: 'No credentials were sent',
    detail: 'Send "Authorization: Bearer <token>" with the agent token or the operator token.',
  },
  invalid_token: {
    status: 401,
    title: 'The token is not valid',
    detail:
      'Check the token for typos. If the agent key was rotated, use the token that the rotation returned.',
  },
  key_expired: {
    status: 401,
    title: 'The named key has expired',
    detail: 'Ask the operator for a new named key.',
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
    title: 'The passkey was not accepted',
    detail:
      'Nothing was changed. Try again, or sign in with the password: the passkey may have been removed, or the page may have been open for too long.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The operator token is required',
    detail: 'Ask the operator: only the operator token can manage the agent and its keys.',
  },
  key_out_of_reach: {
    status: 403,
    title: 'The named key does not grant access to this',
    detail:
      'Use memory keys that start with the prefix of this named key, or ask the operator for a key with wider access.',
    members: { prefix: 'report.' },
  },
  key_read_only: {
    status: 403,
    title: 'The named key is read-only',
    detail: 'Nothing was written. Ask the operator for a named key with write access.',
  },
  memory_protected: {
    status: 403,
    title: 'The memory is protected',
    detail:
      'Nothing was changed: the operator has protected this memory, so it can only be read. Ask the operator to change it, or write what you have under another key.',
  },
  agent_paused: {
    status: 403,
    title: 'The agent is paused',
    detail:
      'Stop, and ask the operator to set the status to active. The agent token can still read the profile.',
  },
  origin_denied: {
    status: 403,
    title: 'This origin is not allowed',
    detail:
      'Call from the service’s own origin, or from a program that sends no Origin header, or ask the operator of the service to add this origin to ALLOWED_ORIGINS.',
  },
  signed_out: {
    status: 403,
    title: 'You are signed out',
    detail:
      'Nothing was changed. After you sign in, you return to the page you came from and can submit the form again.',
  },
  address_denied: {
    status: 403,
    title: 'Metrics are not available to this address',
    detail:
      'Request them directly by the address of the machine, not through a proxy, or ask the operator of the service to add your address to METRICS_FROM.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    detail:
      'See /llms.txt for how to get started, and /openapi.json for every path of this service.',
  },
  oauth_unavailable: {
    status: 404,
    title: 'OAuth is not offered at this address',
    detail:
      'It needs https: the operator of this service must set PUBLIC_URL to its https address, without a path. On loopback it works without. Until then, send a token of the agent in the Authorization header.',
  },
  memory_not_found: {
    status: 404,
    title: 'No memory has this key',
    detail: 'Check the key, or create the memory by writing it with expectedVersion 0.',
  },
  event_not_found: {
    status: 404,
    title: 'The home has no event with this id yet',
    detail: 'Nothing was changed. GET /api/agents/me/events?order=newest lists the latest events.',
  },
  version_not_found: {
    status: 404,
    title: 'The memory has no such version',
    detail:
      'This version never existed, or it is a deletion and has no text. List the versions with GET /api/agents/me/memory/versions.',
  },
  key_not_found: {
    status: 404,
    title: 'The agent has no such named key',
    detail: 'List the named keys with GET /api/agents/me/keys. A revoked key is no longer listed.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not support this method',
    detail: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    detail:
      'Send the whole request within 15 seconds. An import may take longer as long as data keeps arriving.',
  },
  import_conflict: {
    status: 409,
    title: 'Some of the memories already exist',
    detail:
      'Nothing was imported. The keys in conflicts already have memories. Repeat the import with onConflict=skip to keep them, or with onConflict=replace to write the imported texts as their next versions.',
    members: { conflicts: ['plan.current'] },
  },
  version_conflict: {
    status: 409,
    title: 'The memory is at a different version',
    detail: RECONCILE,
    members: currentVersion,
  },
  edit_not_found: {
    status: 409,
    title: 'The passage is not in the text',
    detail:
      'Nothing was changed. Read the memory and send old exactly as it is there, with its spaces and line ends. If an earlier answer was lost, the edit may have been made.',
    members: { ...seenVersion, occurrences: 0 },
  },
  edit_ambiguous: {
    status: 409,
    title: 'The passage is in the text more than once',
    detail:
      'Nothing was changed. Send a longer old, with enough of the text around it to occur only once.',
    members: { ...seenVersion, occurrences: 3 },
  },
  key_taken: {
    status: 409,
    title: 'The new key is taken',
    detail:
      'Nothing was renamed. The new key has a memory, or retained versions of a deleted one. Choose another key, or ask the operator to erase the retained versions.',
  },
  version_current: {
    status: 409,
    title: 'The current version cannot be erased by number',
    detail: 'Nothing was erased. Omit the current version, or erase the whole memory with "all".',
  },
  batch_conflict: {
    status: 409,
    title: 'Some operations cannot be applied',
    detail:
      'Nothing was changed. conflicts lists each operation that cannot be applied, with its index. Correct these and send the whole batch again.',
    members: {
      conflicts: [
        {
          operation: 1,
          code: 'version_conflict',
          detail: RECONCILE,
          ...currentVersion,
        },
      ],
    },
  },
  birth_conflict: {
    status: 409,
    title: 'This Idempotency-Key was used for another birth',
    detail: 'Send the original body to replay that birth, or use a new Idempotency-Key.',
  },
  idempotency_key_reused: {
    status: 409,
    title: 'This Idempotency-Key was used for another append',
    detail:
      'Nothing was written. Send the original body to get its response again, or use a new Idempotency-Key.',
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
    detail:
      'Sign in to the account that the agent belongs to. An agent can belong to only one account.',
  },
  form_sent_before: {
    status: 409,
    title: 'The form was already submitted',
    detail:
      'Nothing was changed this time. The result was shown once, after the first submission. If it was lost, fill in the form on the current page.',
  },
  event_gone: {
    status: 410,
    title: 'The events since then are no longer retained',
    detail:
      'Nothing was changed: the log no longer has all changes since that event. first is the oldest event that is kept: send its id minus one, or any later id.',
    members: { first: 41 },
  },
  version_gone: {
    status: 410,
    title: 'The version is no longer retained',
    detail:
      'It was erased, or pruned to make room for newer versions. List the retained versions with GET /api/agents/me/memory/versions.',
  },
  link_void: {
    status: 410,
    title: 'The link is no longer valid',
    detail:
      'It was already used, is more than 30 minutes old, or was replaced by a newer one. Ask the owner of the host for a new link: agent-home account recover.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'Send a smaller body.',
  },
  text_too_large: {
    status: 413,
    title: 'The text is too large',
    detail: `Send at most ${fields.text.maxBytes} UTF-8 bytes of text; split longer texts across several keys.`,
    members: { bytes: 16_300, maxBytes: fields.text.maxBytes, nextKey: 'log.2' },
  },
  metadata_too_large: {
    status: 413,
    title: 'The metadata is too large',
    detail: `Send metadata of at most ${fields.metadata.maxBytes} bytes as serialized UTF-8 JSON.`,
  },
  answer_too_large: {
    status: 413,
    title: 'The response would be too large',
    detail:
      'Nothing was changed. Read fewer memories at once, or send "Prefer: return=minimal" to omit the text and metadata of saved memories.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is not JSON',
    detail: 'Send the body as JSON with "Content-Type: application/json".',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'Wait the number of seconds in Retry-After. GET /api/agents/preview lists the limits.',
  },
  import_running: {
    status: 429,
    title: 'Another import into this agent is in progress',
    detail: 'Wait until it finishes, and check its result before you send another.',
  },
  export_running: {
    status: 429,
    title: 'Another export of this agent is in progress',
    detail:
      'Read it to the end, or close its connection. The tokens of an agent can run one export at a time, and its operator another.',
  },
  memory_quota_reached: {
    status: 429,
    title: 'The agent has reached its memory quota',
    detail:
      'Nothing was written, and waiting does not help. Delete memories that are no longer needed, or shorten them. GET /api/agents/preview shows the quotas.',
  },
  key_quota_reached: {
    status: 429,
    title: 'The agent has the maximum number of named keys',
    detail:
      'Nothing was created. Revoke a key that is no longer used: DELETE /api/agents/me/keys/{id}.',
  },
  too_many_failures: {
    status: 429,
    title: 'Too many failed authentications from this address',
    detail:
      'Wait the number of seconds in Retry-After and correct the credentials before trying again.',
  },
  too_many_wrong_passwords: {
    status: 429,
    title: 'Too many wrong passwords for this account',
    detail:
      'Wait the number of seconds in Retry-After, or sign in from an address that has signed in to this account before.',
  },
  too_many_sign_ins: {
    status: 429,
    title: 'Too many sign-ins to this account',
    detail: 'Use an existing session, or wait the number of seconds in Retry-After.',
  },
  header_too_large: {
    status: 431,
    title: 'The headers are too large',
    detail: 'Send less than 16 KiB of headers.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'The fault is in the service. Report the instance: the log records the cause under it.',
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
    detail: 'Send the same request again after the number of seconds in Retry-After.',
  },
  stopping: {
    status: 503,
    title: 'The process is stopping',
    detail:
      'Send the request again after the number of seconds in Retry-After; another process may handle it.',
  },
  storage_unavailable: {
    status: 503,
    title: 'The store is not available',
    detail:
      'Nothing was written. Send the same request again after the number of seconds in Retry-After.',
  },
  storage_full: {
    status: 503,
    title: 'Storage is full',
    detail:
      'Nothing was written; stored data can still be read. Send the same request again after the number of seconds in Retry-After. The operator of this service must free disk space. Births and the gateway are refused first, memory writes last.',
  },
  outcome_unknown: {
    status: 503,
    title: 'The write may or may not have happened',
    detail:
      'The store failed during the commit. Read the current state before you write again. Memory writes and births are safe to repeat unchanged.',
  },
  imports_busy: {
    status: 503,
    title: 'Too many imports are in progress',
    detail:
      'Send the request again after the number of seconds in Retry-After: there is no space to buffer it now. Each address has a share of that space, which its exports use too.',
  },
  exports_busy: {
    status: 503,
    title: 'Too many exports are in progress',
    detail:
      'Send the request again after the number of seconds in Retry-After: other exports are waiting to be read. Each address has a share of the space: read the exports that you have started to the end.',
  },
  export_ended: {
    status: 503,
    title: 'An erasure ended the export',
    detail:
      'Some of the exported data was erased in the meantime. Export again to get the current data.',
  },
  too_many_streams: {
    status: 503,
    title: 'Too many streams from this address',
    detail:
      'Close a stream that you no longer need, then try again. STREAMS_PER_ADDRESS limits the streams that one address may have open.',
  },
  overloaded: {
    status: 503,
    title: 'Too many requests are waiting',
    detail:
      'Nothing was written. Send the same request again after the number of seconds in Retry-After.',
  },
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof catalogue

export interface FieldError {
  /** JSON pointer (RFC 6901) into the body, or the query parameter as `?name`. */
  readonly pointer: string
  readonly message: string
}

export interface ProblemExtras {
  readonly detail?: string
  readonly errors?: readonly FieldError[]
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
