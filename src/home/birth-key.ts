/**
 * The Idempotency-Key of a birth, of a new operator token or of an append: its format, its hash, and
 * the tokens derived from it.
 */
import { createHmac, hash, hkdfSync } from 'node:crypto'
import { z } from 'zod'
import { problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { failAuthentication, type Guarded } from '../pipeline/failures.ts'
import type { Guard } from '../pipeline/guard.ts'
import { TOKEN_BYTES, tokenFrom } from '../pipeline/tokens.ts'
import type { Identity } from '../store/port/identity.ts'
import type { Once } from '../store/port/memories.ts'
import type { Home } from './home.ts'

const IDEMPOTENCY_KEY = /^[a-f0-9]{64}$/

/** Keys from our documentation, which several people would use. */
const PRINTED: ReadonlySet<string> = new Set([
  '3f7a1c0de5b24968a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718',
])

const wasPrinted = (key: string): boolean => PRINTED.has(key)

export const isOwnKey = (key: string): boolean => IDEMPOTENCY_KEY.test(key) && !wasPrinted(key)

const KEY_BYTES = 32

/** A new key, for a form of the console. */
export const newKey = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(KEY_BYTES)).toString('hex')

export const idempotencyKeyHeader = z.object({
  'Idempotency-Key': z.string().regex(IDEMPOTENCY_KEY).meta({
    description:
      '32 random bytes as 64 lowercase hex characters, for example the output of `openssl rand -hex 32`. This is a credential: generate a new one for each such call, and keep it secret.',
  }),
})

export const appendKeyHeader = {
  'Idempotency-Key': z.string().regex(IDEMPOTENCY_KEY).optional().meta({
    description:
      '32 random bytes as 64 lowercase hex characters, new for each append. The same call again with the same key, by the same credential and within a day, is answered as before with `replayed`, and appends nothing.',
  }),
}

const SALT_BYTES = 32

/** As hex. */
export const newSalt = (random: (bytes: number) => Uint8Array): string =>
  Buffer.from(random(SALT_BYTES)).toString('hex')

/** The stored hash of an Idempotency-Key. */
export const hashIdempotencyKey = (key: string): string =>
  hash('sha256', `agent-home idempotency-key ${key}`, 'hex')

const derive = (key: string, salt: string, label: string): Buffer =>
  Buffer.from(
    hkdfSync('sha256', Buffer.from(key, 'hex'), Buffer.from(salt, 'hex'), label, TOKEN_BYTES),
  )

interface BirthTokens {
  readonly token: string
  readonly operatorToken: string
}

/** The same key and salt derive the same two tokens, so a replay needs no stored secret. */
export const deriveTokens = (key: string, salt: string): BirthTokens => ({
  token: tokenFrom('agent', derive(key, salt, 'agent-home agent token')),
  operatorToken: tokenFrom('operator', derive(key, salt, 'agent-home operator token')),
})

/** Of a replacement, which has its own salt. */
export const deriveOperatorToken = (key: string, salt: string): string =>
  tokenFrom('operator', derive(key, salt, 'agent-home next operator token'))

/** Keyed with the Idempotency-Key, because the body may contain a password. */
export const fingerprint = (key: string, salt: string, canonicalBody: string): string =>
  createHmac('sha256', derive(key, salt, 'agent-home fingerprint'))
    .update(canonicalBody)
    .digest('hex')

/**
 * Throws `births_disabled`. Not called for a replay, whose birth happened while births were
 * enabled.
 */
export function refuseWhileClosed({ birthsEnabled }: Pick<Home, 'birthsEnabled'>): void {
  if (!birthsEnabled) throw problem('births_disabled')
}

export const birthsOpen: Guard<Pick<Home, 'birthsEnabled'>, object, void> = {
  name: 'births-open',
  errors: ['births_disabled'],
  run: (_, home) => refuseWhileClosed(home),
}

const PRINTED_KEY = {
  detail:
    'This key was printed in our documentation, so others know it. Generate your own: 32 random bytes as 64 lowercase hex characters.',
}

/** Of an append, which may have none. Throws `malformed_idempotency_key`. */
export function optionalKeyIn({ requestHeaders }: Pick<Call, 'requestHeaders'>) {
  const key = requestHeaders['idempotency-key']
  if (key === undefined || isOwnKey(key)) return key
  throw problem('malformed_idempotency_key', wasPrinted(key) ? PRINTED_KEY : {})
}

/** The key of one program says nothing of another's that is equal. */
export function onceBy({ key: namedKey, kind }: Identity, key: string, sent: string): Once {
  const by = namedKey?.id ?? kind
  const keyHash = hash('sha256', `agent-home append ${by} ${key}`, 'hex')
  return { keyHash, fingerprint: fingerprint(key, keyHash, sent) }
}

/** The credential of a birth; a malformed one counts as a failed authentication. */
export const idempotencyKey: Guard<Guarded, object, { readonly key: string }> = {
  name: 'idempotency-key',
  errors: ['invalid_idempotency_key', 'too_many_failures'],
  run({ call }, home) {
    const key = call.requestHeaders['idempotency-key']
    if (key === undefined) throw problem('invalid_idempotency_key')
    return isOwnKey(key)
      ? { key }
      : failAuthentication(
          call,
          home,
          'invalid_idempotency_key',
          wasPrinted(key) ? PRINTED_KEY : {},
        )
  },
}
