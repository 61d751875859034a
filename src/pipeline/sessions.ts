/** Browser sessions: a random secret in a cookie, and its hash in the store. */
import { hash } from 'node:crypto'
import { parse, serialize } from 'hono/utils/cookie'
import { neighbourhood } from '../http/address.ts'
import type { Call } from '../http/call.ts'
import type { Account } from '../store/port/home.ts'
import type { Session, SessionStore } from '../store/port/sessions.ts'
import { newId } from '../uuid.ts'
import { addressHashOf, type Guarded } from './failures.ts'

const SECRET_BYTES = 32
const IDLE_MS = 12 * 3_600_000
const LIFE_MS = 7 * 24 * 3_600_000
/** Minimum time between two recorded visits. */
const TOUCH_MS = 60_000

const USER_AGENT_CHARS = 200

/** The User-Agent, cut to the stored length. */
export const keptUserAgent = ({ requestHeaders }: Call): string =>
  (requestHeaders['user-agent'] ?? '').slice(0, USER_AGENT_CHARS)

export interface WithSessions {
  readonly sessions: SessionStore
  /** The service is reached over https: cookies are Secure, and HSTS is sent. */
  readonly secure: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** `__Host-` binds the cookie to this host; browsers accept it only over https. */
const nameOf = ({ secure }: WithSessions): string =>
  secure ? '__Host-agent-home-session' : 'agent-home-session'

const hashSecret = (secret: string): string => hash('sha256', `agent-home session ${secret}`, 'hex')

function sentSecret({ requestHeaders }: Call, deps: WithSessions): string | undefined {
  const name = nameOf(deps)
  return parse(requestHeaders.cookie ?? '', name)[name]
}

/** For this host only, not readable by scripts, not sent with other sites' forms. */
function setSecret(
  { responseHeaders }: Call,
  deps: WithSessions,
  secret: string,
  maxAgeSeconds: number,
): void {
  responseHeaders['Set-Cookie'] = serialize(nameOf(deps), secret, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: deps.secure,
    maxAge: maxAgeSeconds,
  })
}

const expiry = (createdAt: number, now: number): number =>
  Math.min(now + IDLE_MS, createdAt + LIFE_MS)

/** The session of this request, unchanged. */
export async function findSession(call: Call, deps: WithSessions): Promise<Session | undefined> {
  const secret = sentSecret(call, deps)
  return secret === undefined
    ? undefined
    : deps.sessions.findSession(hashSecret(secret), deps.clock())
}

/** A script's request is not a visit: the user may be away. */
const isVisit = ({ method, requestHeaders }: Call): boolean =>
  method !== 'GET' || requestHeaders['sec-fetch-dest'] !== 'empty'

/** The session of this request, extended if it is a visit. */
export async function currentSession(call: Call, deps: WithSessions): Promise<Session | undefined> {
  const now = deps.clock()
  const session = await findSession(call, deps)
  if (session && isVisit(call) && now - session.seenAt >= TOUCH_MS) {
    await deps.sessions.touchSession(session.id, expiry(session.createdAt, now), now)
  }
  return session
}

/** A new secret at every sign-in; the browser's previous session ends. */
export async function beginSession(
  call: Call,
  deps: WithSessions &
    Pick<Guarded, 'trustedProxies'> & { readonly random: (bytes: number) => Uint8Array },
  account: Pick<Account, 'id' | 'email'>,
): Promise<void> {
  const now = deps.clock()
  const secret = Buffer.from(deps.random(SECRET_BYTES)).toString('base64url')
  const before = sentSecret(call, deps)
  const session = {
    id: newId(now, deps.random),
    tokenHash: hashSecret(secret),
    accountId: account.id,
    addressHash: addressHashOf(call, deps, account.email),
    userAgent: keptUserAgent(call),
    place: neighbourhood(call, deps.trustedProxies),
    expiresAt: expiry(now, now),
  }
  await deps.sessions.createSession(session, before && hashSecret(before), now)
  setSecret(call, deps, secret, LIFE_MS / 1000)
}

export async function endSession(call: Call, deps: WithSessions, session: Session): Promise<void> {
  await deps.sessions.revokeSession(session.accountId, session.id)
  setSecret(call, deps, '', 0)
}
