/** Response headers that the pipeline sets, and what each says: the OpenAPI document lists them. */
export const responseHeaders = {
  'Access-Control-Allow-Origin': 'The origins whose pages may read the response.',
  'Access-Control-Expose-Headers': 'The headers that those pages may read.',
  'Cache-Control': 'Who may cache the response, and for how long.',
  'Content-Encoding': 'gzip, if the client accepts it and the response is larger than 4 KB.',
  RateLimit: 'The remaining requests, and the seconds until the budget resets.',
  'RateLimit-Policy': 'The budget: its quota and its window in seconds.',
  'Retry-After': 'Seconds to wait before the next attempt.',
  Vary: 'The request headers that the response depends on.',
  'WWW-Authenticate': 'The challenge of RFC 6750.',
  'X-Content-Type-Options': 'nosniff: the declared media type is correct.',
  'X-Request-Id': 'The request id, also in the log and in the instance of a problem.',
} as const satisfies Readonly<Record<string, string>>

export type ResponseHeader = keyof typeof responseHeaders
