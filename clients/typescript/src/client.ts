/** A home, with what its operator may: the token says who you are. */
import { derivedKey, newIdempotencyKey } from './idempotency-key.ts'
import { Operator } from './operator.ts'
import { type CallOptions, Transport, type TransportOptions } from './transport.ts'
import type { BirthRequest, BirthResult, Preview } from './wire.ts'

export interface BirthOptions extends TransportOptions, CallOptions, BirthRequest {
  /** Made here unless told. Who keeps it can have a lost answer again, also in another process. */
  readonly idempotencyKey?: string
}

export interface HomeOfOptions
  extends TransportOptions,
    CallOptions,
    Partial<Pick<BirthRequest, 'name' | 'purpose' | 'symbol'>> {
  /** Of your product: 32 characters or more that nobody can guess. */
  readonly secret: string
  /** An id of your own that never changes. */
  readonly user: string
}

export interface UserHome {
  readonly agentId: string
  /** The agent's. */
  readonly home: AgentHome
  readonly token: string
  /** Its operator's, which is your product. */
  readonly operator: AgentHome
  readonly operatorToken: string
}

/** A home is found by the very birth that made it, so these never change. */
const OF_USER = {
  name: 'A user',
  purpose: 'What a product remembers of one of its users.',
  symbol: 'zerno',
} as const

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
   * and never change it. You are its operator, and agree by the call. `name`, `purpose` and `symbol`
   * may be given if they are the same at every call. Throws HomeError `credentials_rotated` once a
   * token of it was replaced.
   *
   * ```ts
   * const secret = 'a secret of your product, of at least 32 characters'
   * const { home } = await AgentHome.homeOf({ url, secret, user: 'user-1842' })
   * await home.append('notes', 'Likes tea.')
   * ```
   */
  static async homeOf({ secret, user, ...options }: HomeOfOptions): Promise<UserHome> {
    const idempotencyKey = await derivedKey(secret, user)
    const agent = { ...OF_USER, ...options, operatorConsent: true } as const
    const born = await AgentHome.birth({ ...agent, idempotencyKey })
    const { agent_id: agentId, token, operator_token: operatorToken } = born
    return {
      agentId,
      home: new AgentHome({ ...options, token }),
      token,
      operator: new AgentHome({ ...options, token: operatorToken }),
      operatorToken,
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
