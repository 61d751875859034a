/** Who may act for an agent: its operator gives and takes keys. */
import { Home } from './home.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import type { CallOptions } from './transport.ts'
import type { NamedKey, NamedKeyRequest, NewNamedKey } from './wire.ts'

export interface IdempotentOptions extends CallOptions {
  readonly idempotencyKey?: string
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
