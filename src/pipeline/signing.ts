/** The key of this service, with which it signs what it says of itself. */
import type { CryptoKey, JWK, JWTPayload } from 'jose'
import type { PasskeyStore } from '../store/port/passkeys.ts'
import { remembering } from './remember.ts'

const ALGORITHM = 'EdDSA'

/** Long enough to save work, short enough to notice a restored database. */
const KEY_MS = 600_000

export interface SigningKey {
  readonly key: CryptoKey | Uint8Array
  /** With its id, the thumbprint of RFC 7638. */
  readonly publicJwk: JWK
}

export type Signing = () => Promise<SigningKey>

async function newKey(): Promise<string> {
  const { exportJWK, generateKeyPair } = await import('jose')
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  return JSON.stringify(await exportJWK(privateKey))
}

/** The key that all nodes share: the first one that was made. Loaded when it is first needed. */
export const createSigning = (
  { sharedSecret }: Pick<PasskeyStore, 'sharedSecret'>,
  clock: () => number,
): Signing =>
  remembering(
    async () => {
      const { calculateJwkThumbprint, importJWK } = await import('jose')
      const stored = JSON.parse(await sharedSecret('statements', await newKey())) as JWK
      const { d: _, ...publicPart } = stored
      const kid = await calculateJwkThumbprint(publicPart)
      const publicJwk = { ...publicPart, kid, alg: ALGORITHM, use: 'sig' }
      return { key: await importJWK(stored, ALGORITHM), publicJwk }
    },
    KEY_MS,
    clock,
  )

/** A compact JWS of the claims. */
export async function signed({ key, publicJwk }: SigningKey, claims: JWTPayload): Promise<string> {
  const { SignJWT } = await import('jose')
  const header = { alg: ALGORITHM, kid: publicJwk.kid ?? '', typ: 'JWT' }
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}
