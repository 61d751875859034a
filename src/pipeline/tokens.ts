/** Tokens: their format and their hashes. */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Identity, TokenKind } from '../store/port/identity.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 32 bytes in base62; 62^43 > 2^256. */
const BODY_CHARS = 43
/** A CRC-32 in base62; 62^6 > 2^32. */
const CHECKSUM_CHARS = 6

const prefixes: Readonly<Record<TokenKind, string>> = { agent: 'aha_', operator: 'aho_' }

const TOKEN = new RegExp(`^ah[ao]_[0-9A-Za-z]{${BODY_CHARS + CHECKSUM_CHARS}}$`)

export const TOKEN_BYTES = 32

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
  }
  return text
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_CHARS)

const DIGITS = new Uint8Array(128)
for (const [value, character] of [...ALPHABET].entries()) DIGITS[character.charCodeAt(0)] = value

/** The number that the last base62 characters of a text encode; runs on every request. */
function numberAtEnd(text: string, length: number): number {
  let value = 0
  for (let i = text.length - length; i < text.length; i++) {
    value = value * 62 + (DIGITS[text.charCodeAt(i)] ?? 0)
  }
  return value
}

/** `aha_` or `aho_`, 43 base62 characters of the 32 secret bytes, 6 of checksum. */
export function tokenFrom(kind: TokenKind, secret: Uint8Array): string {
  const number = BigInt(`0x${Buffer.from(secret).toString('hex')}`)
  const body = prefixes[kind] + base62(number, BODY_CHARS)
  return body + checksum(body)
}

/** A token that fails this check was never issued, so it needs no lookup. */
export const isWellFormedToken = (token: string): boolean =>
  TOKEN.test(token) && numberAtEnd(token, CHECKSUM_CHARS) === crc32(token.slice(0, -CHECKSUM_CHARS))

/** The stored hash of a token. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex')

/** The name of a token in logs: the first 8 hex digits of its hash. */
export const tokenMark = (tokenHash: string): string => tokenHash.slice(0, 8)

/** Only named keys expire. `now`: milliseconds since the epoch. */
export const hasExpired = ({ key }: Identity, now: number): boolean =>
  key?.expiresAt !== undefined && key.expiresAt <= now
