/** Cookies (RFC 6265). */
import { parse, serialize } from 'hono/utils/cookie'
import type { Call } from './call.ts'

export const cookieOf = ({ requestHeaders }: Call, name: string): string | undefined =>
  parse(requestHeaders.cookie ?? '', name)[name]

interface Lasting {
  /** Only sent over https. */
  readonly secure: boolean
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number
}

/** For this host only, not readable by scripts, not sent with other sites' forms. */
export function setCookie(
  { responseHeaders }: Call,
  name: string,
  value: string,
  lasting: Lasting,
): void {
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', ...lasting } as const
  responseHeaders['Set-Cookie'] = serialize(name, value, options)
}
