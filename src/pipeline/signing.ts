/** The key of this service, with which it signs what it says of itself. */
import { generateKeyPairSync } from 'node:crypto'
import type { CryptoKey, JWK, JWTPayload } from 'jose'
import { remembering } from './remember.ts'
import { type Secrets, sharedSecret } from './shared-secret.ts'

const ALGORITHM = 'EdDSA'

/** Long enough to save work, short enough to notice a restored database. */
const KEY_MS = 600_000

export interface SigningKey {
  readonly key: CryptoKey | Uint8Array
  /** With its id, the thumbprint of RFC 7638. */
  readonly publicJwk: JWK
}

export type Signing = () => Promise<SigningKey>

const newKey = (): string => {
  const { privateKey } = generateKeyPairSync('ed25519')
  return JSON.stringify(privateKey.export({ format: 'jwk' }))
}

/** The key that all nodes share, as a private JWK: the first one that was made. */
export const keepSigningKey = (store: Secrets): Promise<string> =>
  sharedSecret(store, 'statements', newKey)

/** The library is loaded when something is first signed. */
export const createSigning = (store: Secrets, clock: () => number): Signing =>
  remembering(
    async () => {
      const { calculateJwkThumbprint, importJWK } = await import('jose')
      const stored = JSON.parse(await keepSigningKey(store)) as JWK
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
