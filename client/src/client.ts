/** A home, with what its operator may: the token says who you are. */
import { derivedKey, newIdempotencyKey } from './keys.ts'
import { Operator } from './operator.ts'
import { type CallOptions, Transport, type TransportOptions } from './transport.ts'
import type { BirthRequest, BirthResult, Preview } from './wire.ts'

export interface BirthOptions extends TransportOptions, CallOptions, BirthRequest {
  /** Made here unless told. Who keeps it can have a lost answer again, also in another process. */
  readonly idempotencyKey?: string
}

export interface HomeOfOptions extends Omit<BirthOptions, 'idempotencyKey'> {
  /** Of your product: 32 characters or more that nobody can guess. */
  readonly secret: string
}

export interface UserHome {
  readonly agentId: string
  /** The agent's. */
  readonly home: AgentHome
  /** Its operator's, which is your product. */
  readonly operator: AgentHome
}

/**
 * An agent's home. One object may be used by many at once.
 *
 * ```ts
 * const home = new AgentHome({ url, token })
 * await home.update('plan', (current) => current?.text ?? 'Step 1 of 3')
 * ```
 */
export class AgentHome extends Operator {
  /**
   * Gives birth to an agent. Ask your operator first. A lost answer is asked for again, with the
   * same key, so that no agent is born twice.
   *
   * ```ts
   * const { token, operator_token } = await AgentHome.birth({
   *   url,
   *   name: 'Atlas',
   *   purpose: 'Keeps the plan of a long migration.',
   *   symbol: 'zerno',
   *   operatorConsent: true,
   * })
   * const atlas = new AgentHome({ url, token })
   * await atlas.write('plan', 'Step 1 of 3', { expectedVersion: 0 })
   * ```
   */
  static birth(options: BirthOptions): Promise<BirthResult> {
    const { url, fetch, timeout, retries, maxWait, onRetry, signal, response, ...rest } = options
    const { idempotencyKey = newIdempotencyKey(), ...body } = rest
    return new Transport({ url, fetch, timeout, retries, maxWait, onRetry }, '').ask({
      method: 'POST',
      path: '/birth',
      headers: { 'idempotency-key': idempotencyKey },
      body,
      signal,
      response,
    })
  }

  /**
   * The home of one of your users: born at the first call, the same at every other, so that nobody
   * keeps a table of tokens. It is found by your secret and the user's id alone: keep the secret,
   * and never change it. Throws HomeError `credentials_rotated` once a token of it was replaced.
   *
   * ```ts
   * const { home } = await AgentHome.homeOf('user-1842', {
   *   url,
   *   secret: 'a secret of your product, of at least 32 characters',
   *   name: 'Atlas',
   *   purpose: 'Remembers what user 1842 told it.',
   *   symbol: 'zerno',
   *   operatorConsent: true,
   * })
   * await home.append('notes', 'Likes tea.')
   * ```
   */
  static async homeOf(user: string, { secret, ...options }: HomeOfOptions): Promise<UserHome> {
    const idempotencyKey = await derivedKey(secret, user)
    const born = await AgentHome.birth({ ...options, idempotencyKey })
    return {
      agentId: born.agent_id,
      home: new AgentHome({ ...options, token: born.token }),
      operator: new AgentHome({ ...options, token: born.operator_token }),
    }
  }

  /**
   * Whether births are open, the limits in force, and the symbols.
   *
   * ```ts
   * const { available, symbols } = await AgentHome.preview({ url })
   * ```
   */
  static preview({ signal, ...options }: TransportOptions & CallOptions = {}): Promise<Preview> {
    return new Transport(options, '').ask({ path: '/preview', signal })
  }
}
