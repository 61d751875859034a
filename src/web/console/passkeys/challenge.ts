/**
 * The challenge of a passkey ceremony: its time and purpose, sealed with a key that all processes on
 * the same data share. It is stored only when it is answered, so asking for one costs nothing.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Challenge } from '../../../store/port/passkeys.ts'
import type { Workspace } from '../workspace.ts'

/** The purpose, and the session that asks; nobody has one before signing in. */
export type Purpose = readonly ['sign in'] | readonly ['confirm' | 'add', sessionId: string]

/** The time limit for an answer. */
export const LASTS_MS = 5 * 60_000

/** The clocks of nodes may differ by this much. */
const SKEW_MS = 60_000

const TIME_BYTES = 8
const NONCE_BYTES = 16

const sealOf = (key: string, purpose: Purpose, head: Uint8Array): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(purpose)).update('\0').update(head).digest()

export async function newChallenge(
  purpose: Purpose,
  { challengeKey, clock, random }: Workspace,
): Promise<Uint8Array<ArrayBuffer>> {
  const head = Buffer.alloc(TIME_BYTES + NONCE_BYTES)
  head.writeBigUInt64BE(BigInt(clock()))
  head.set(random(NONCE_BYTES), TIME_BYTES)
  return new Uint8Array([...head, ...sealOf(await challengeKey(), purpose, head)])
}

/** Reads the challenge that was signed; undefined if it is not accepted. */
export type Accept = (challenge: string) => Challenge | undefined

/** Accepts our own challenges for this purpose, until they expire. */
export async function acceptFor(
  purpose: Purpose,
  { challengeKey, clock }: Workspace,
): Promise<Accept> {
  const key = await challengeKey()
  return (text) => {
    const bytes = Buffer.from(text, 'base64url')
    const head = bytes.subarray(0, TIME_BYTES + NONCE_BYTES)
    const seal = bytes.subarray(TIME_BYTES + NONCE_BYTES)
    const expected = sealOf(key, purpose, head)
    if (seal.length !== expected.length || !timingSafeEqual(seal, expected)) return undefined
    const askedAt = Number(head.readBigUInt64BE())
    const now = clock()
    if (askedAt > now + SKEW_MS || askedAt + LASTS_MS <= now) return undefined
    // Stored for longer than any node accepts it, whichever clock is behind.
    return { hash: hash('sha256', bytes, 'hex'), expiresAt: askedAt + LASTS_MS + 2 * SKEW_MS }
  }
}
