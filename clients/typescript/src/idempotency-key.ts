/** Keys under which the home answers a repeated call, and does nothing a second time. */
const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * 32 random bytes, as the home wants them: a secret, to be kept until the answer is.
 *
 * ```ts
 * const idempotencyKey = newIdempotencyKey()
 * ```
 */
export const newIdempotencyKey = (): string => hex(crypto.getRandomValues(new Uint8Array(32)))

const LEAST_SECRET = 32

/** HMAC-SHA-256 of the user's id: the same key for the same user. Throws TypeError. */
export async function derivedKey(secret: string, user: string): Promise<string> {
  if (secret.length < LEAST_SECRET) {
    throw new TypeError(`secret must have at least ${LEAST_SECRET} characters`)
  }
  if (user === '') throw new TypeError('user must not be empty')
  const bytes = (text: string) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign'])
  return hex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(user))))
}
