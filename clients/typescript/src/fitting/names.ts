/** Names of others as parts of a memory's key, which takes ASCII letters, digits, `_`, `.` and `-`. */

const READABLE = /^[\w-]+$/

/** Bytes of SHA-256 that are kept: nobody finds two names that share them. */
const HASH_BYTES = 16

/** Characters that such a hash takes. */
const HASH_LENGTH = 22

/** Base64 with the two characters that a key takes, unpadded. */
const keyCharacters = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

async function hashOf(name: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name))
  return keyCharacters(new Uint8Array(digest, 0, HASH_BYTES))
}

/**
 * A name as one part of a key, without dots: itself where it fits into `most` characters (22 at
 * least), else 22 characters of its hash. No readable name is as long as a hash, so none is one.
 */
export async function segment(name: string, most: number): Promise<string> {
  const fits = READABLE.test(name) && name.length <= most && name.length !== HASH_LENGTH
  return fits ? name : hashOf(name)
}

const MOST_SHOWN = 500

/** A name as metadata hold it, for whoever looks into the home: any string has its place there. */
export const shown = (name: string): string =>
  [...name.replaceAll(/\p{Surrogate}/gu, '\ufffd').replaceAll('\0', '\ufffd')]
    .slice(0, MOST_SHOWN)
    .join('')

/** A part of a key that nobody has used before. `bytes`: a multiple of 3. */
export const fresh = (bytes: number): string =>
  keyCharacters(crypto.getRandomValues(new Uint8Array(bytes)))

const PREFIX = /^[\w-]+$/

/** Throws TypeError unless it can stand before the first dot of a key. */
export function requirePrefix(prefix: string, most: number): string {
  if (PREFIX.test(prefix) && prefix.length <= most) return prefix
  throw new TypeError(`prefix must be 1 to ${most} ASCII letters, digits, _ or -`)
}
