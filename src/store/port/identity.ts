/** Who asks, and what they may do. */

export type AgentStatus = 'active' | 'paused'

export type TokenKind = 'agent' | 'operator'

/** Where a request came in. `host`: a command on the host. */
export const DOORS = ['api', 'console', 'mcp', 'host'] as const
export type Door = (typeof DOORS)[number]

export interface Profile {
  readonly agentId: string
  readonly name: string
  readonly purpose: string
  readonly symbol: string
  readonly status: AgentStatus
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a named key may do to the memories in its scope. */
export type Access = 'read' | 'write'

/** The program that a key was granted to by OAuth. */
export interface KeyClient {
  /** Its client id: one that it registered, or the address of its metadata document. */
  readonly id: string
  /** The host of the address to which its user was sent back. */
  readonly redirectHost: string
}

/** The limits of a named key. Only the end of one with a client moves, while it is in use. */
export interface KeyBounds {
  readonly id: string
  readonly name: string
  readonly access: Access
  /** Its scope: memories whose keys start with this prefix; empty: all. */
  readonly prefix: string
  /** Undefined: never. An expired key is listed until it is revoked or replaced by a new one. */
  readonly expiresAt: number | undefined
  /** Undefined for a key whose token the operator was given. */
  readonly client?: KeyClient
}

/** The identity behind a bearer token. */
export interface Identity {
  readonly agentId: string
  readonly kind: TokenKind
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string
  readonly status: AgentStatus
  /** Defaults to `api`. */
  readonly via?: Door
  /** What the client calls this run of itself: a label that nobody verifies. */
  readonly run?: string | undefined
  /** The e-mail address of the operator's account, for requests from the console. */
  readonly account?: string
  /** The limits of a named key. */
  readonly key?: KeyBounds
  /** The endpoint that alone takes an access token of OAuth; other tokens have none. */
  readonly audience?: 'mcp'
}

/**
 * Whether an identity may see what was under this key. A memory that was renamed into the prefix of
 * a named key has versions that were made elsewhere.
 */
export const reaches = ({ key }: Pick<Identity, 'key'>, name: string): boolean =>
  name.startsWith(key?.prefix ?? '')

/** The author of a change, as stored. */
export interface Author {
  readonly as: TokenKind
  readonly via: Door
  readonly account?: string
  /** As the client named it. */
  readonly run?: string
  /** The named key. */
  readonly key?: Pick<KeyBounds, 'id' | 'name'>
}

/**
 * Why a verb refuses an identity. Every verb checks this in the transaction of its work, because a
 * token may be revoked or its agent paused after it was identified.
 */
export type Refused =
  | { readonly outcome: 'revoked' }
  /** Only for agent tokens: the operator of a paused agent keeps all rights. */
  | { readonly outcome: 'paused' }
