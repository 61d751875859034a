/** Response headers that the pipeline sets, and what each says: the OpenAPI document lists them. */
export const responseHeaders = {
  'Access-Control-Allow-Origin': 'Whose pages may read this.',
  'Access-Control-Expose-Headers': 'The headers that they may read.',
  'Cache-Control': 'Who may keep this, and for how long.',
  'Content-Encoding': 'gzip, where the client takes it and the answer is longer than 4 KB.',
  RateLimit: 'What is left of the budget, and the seconds until it is whole again.',
  'RateLimit-Policy': 'The budget: its quota, and its window in seconds.',
  'Retry-After': 'Seconds to wait.',
  Vary: 'What the answer depends on.',
  'WWW-Authenticate': 'The challenge of RFC 6750.',
  'X-Content-Type-Options': 'nosniff: the type is as it is said.',
  'X-Request-Id': 'The request’s id, also in the log and in a problem’s instance.',
} as const satisfies Readonly<Record<string, string>>

export type ResponseHeader = keyof typeof responseHeaders
