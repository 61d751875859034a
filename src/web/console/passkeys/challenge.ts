/**
 * What a passkey is asked to sign: when it was asked, for what and for whom, under a key that all
 * processes on the data share. Nothing is stored until it was answered, so asking costs nothing.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Challenge } from '../../../store/port/passkeys.ts'

/** What it is asked for, and of which session; of none where somebody signs in. */
export type Purpose = readonly ['sign in'] | readonly ['confirm' | 'add', sessionId: string]

/** How long somebody may take. */
export const LASTS_MS = 5 * 60_000

/** Nodes may differ by this much about the time. */
const SKEW_MS = 60_000

const TIME_BYTES = 8
const NONCE_BYTES = 16

const sealOf = (key: string, purpose: Purpose, head: Uint8Array): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(purpose)).update('\0').update(head).digest()

export function newChallenge(
  key: string,
  purpose: Purpose,
  now: number,
  random: (bytes: number) => Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(TIME_BYTES + NONCE_BYTES)
  head.writeBigUInt64BE(BigInt(now))
  head.set(random(NONCE_BYTES), TIME_BYTES)
  return new Uint8Array([...head, ...sealOf(key, purpose, head)])
}

/** Undefined where it is none of ours, was for something else, or is too old. */
export function readChallenge(
  key: string,
  purpose: Purpose,
  now: number,
  text: string,
): Challenge | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const [head, seal] = [
    bytes.subarray(0, TIME_BYTES + NONCE_BYTES),
    bytes.subarray(TIME_BYTES + NONCE_BYTES),
  ]
  const expected = sealOf(key, purpose, head)
  if (seal.length !== expected.length || !timingSafeEqual(seal, expected)) return undefined
  const askedAt = Number(head.readBigUInt64BE())
  if (askedAt > now + SKEW_MS || askedAt + LASTS_MS <= now) return undefined
  // Kept for longer than anybody accepts it, whosever clock is late.
  return { hash: hash('sha256', bytes, 'hex'), expiresAt: askedAt + LASTS_MS + 2 * SKEW_MS }
}
