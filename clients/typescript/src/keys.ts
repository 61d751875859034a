/** Who may act for an agent: its operator gives and takes keys. */
import { Home } from './home.ts'
import type { CallOptions } from './transport.ts'
import type { NamedKey, NamedKeyRequest, NewNamedKey } from './wire.ts'

export interface IdempotentOptions extends CallOptions {
  readonly idempotencyKey?: string
}

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

export class Keys extends Home {
  /**
   * The operator's panic button: the agent's token and every named key are void at once. Gives the
   * agent's new token.
   *
   * ```ts
   * const token = await operator.rotate()
   * const agent = new AgentHome({ url, token })
   * ```
   */
  async rotate(options: CallOptions = {}): Promise<string> {
    const { token } = await this.transport.ask<{ readonly token: string }>({
      method: 'POST',
      path: '/me/keys',
      ...options,
    })
    return token
  }

  /**
   * The operator's: a new operator token, for one that others may know. The token of this object then no longer works.
   *
   * ```ts
   * const token = await operator.replaceOperatorKey()
   * const again = new AgentHome({ url, token })
   * ```
   */
  async replaceOperatorKey({
    idempotencyKey = newIdempotencyKey(),
    ...options
  }: IdempotentOptions = {}): Promise<string> {
    const answer = await this.transport.ask<{ readonly operator_token: string }>({
      method: 'POST',
      path: '/me/operator-keys',
      headers: { 'idempotency-key': idempotencyKey },
      ...options,
    })
    return answer.operator_token
  }

  /**
   * The operator's: the named keys, with when each was last used; never their tokens.
   *
   * ```ts
   * for (const { name, access, lastUsedAt } of await operator.keys()) {
   *   console.log(name, access, lastUsedAt)
   * }
   * ```
   */
  async keys(options: CallOptions = {}): Promise<readonly NamedKey[]> {
    const { keys } = await this.transport.ask<{ readonly keys: readonly NamedKey[] }>({
      path: '/me/keys',
      ...options,
    })
    return keys
  }

  /**
   * The operator's: a token that reaches only so far. A lost answer is OutcomeUnknown: a key may be
   * there then, under this name, whose token nobody has; revoke it.
   *
   * ```ts
   * const { key, token } = await operator.createKey({
   *   name: 'reader of notes',
   *   access: 'read',
   *   prefix: 'notes.',
   * })
   * ```
   */
  createKey(request: NamedKeyRequest, options: CallOptions = {}): Promise<NewNamedKey> {
    return this.transport.ask({
      method: 'POST',
      path: '/me/keys/named',
      body: request,
      once: true,
      ...options,
    })
  }

  /**
   * The operator's: ends a named key at once.
   *
   * ```ts
   * const { key } = await operator.createKey({ name: 'for an hour', access: 'write' })
   * await operator.revokeKey(key.id)
   * ```
   */
  async revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    await this.transport.ask<unknown>({
      method: 'DELETE',
      path: `/me/keys/${encodeURIComponent(id)}`,
      settle: async ({ code }) => (code === 'key_not_found' ? { made: undefined } : 'unknown'),
      ...options,
    })
  }
}
