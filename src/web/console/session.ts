/** The sign-in of a browser: a random secret in a cookie, its hash in the store. */
import { hash } from 'node:crypto'
import { parse, serialize } from 'hono/utils/cookie'
import { v7 as uuidv7 } from 'uuid'
import type { Call } from '../../http/call.ts'
import type { Session } from '../../store/port.ts'
import type { Console } from './console.ts'

const SECRET_BYTES = 32
const IDLE_MS = 12 * 3_600_000
const LIFE_MS = 7 * 24 * 3_600_000
/** A visit is written down at most this often. */
const TOUCH_MS = 60_000

const USER_AGENT_CHARS = 200

/** `__Host-` binds the cookie to this very host, but browsers accept it over https alone. */
const nameOf = ({ secure }: Console): string =>
  secure ? '__Host-agent-home-session' : 'agent-home-session'

const hashSecret = (secret: string): string => hash('sha256', `agent-home session ${secret}`, 'hex')

function secretOf(call: Call, console: Console): string | undefined {
  const name = nameOf(console)
  return parse(call.requestHeaders.cookie ?? '', name)[name]
}

function setCookie(call: Call, console: Console, value: string, maxAge: number): void {
  const { secure } = console
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge } as const
  call.responseHeaders['Set-Cookie'] = serialize(nameOf(console), value, options)
}

const expiry = (createdAt: number, now: number): number =>
  Math.min(now + IDLE_MS, createdAt + LIFE_MS)

/** The session of this request, kept alive by it. */
export async function currentSession(call: Call, console: Console): Promise<Session | undefined> {
  const secret = secretOf(call, console)
  if (secret === undefined) return undefined
  const now = console.home.clock()
  const session = await console.store.findSession(hashSecret(secret), now)
  if (session && now - session.seenAt >= TOUCH_MS) {
    await console.store.touchSession(session.id, expiry(session.createdAt, now), now)
  }
  return session
}

/** A fresh secret at every sign-in; the session that the browser had before ends. */
export async function beginSession(call: Call, console: Console, accountId: string): Promise<void> {
  const { clock, random } = console.home
  const now = clock()
  const secret = Buffer.from(random(SECRET_BYTES)).toString('base64url')
  const before = secretOf(call, console)
  const session = {
    id: uuidv7({ msecs: now, random: random(16) }),
    tokenHash: hashSecret(secret),
    accountId,
    userAgent: (call.requestHeaders['user-agent'] ?? '').slice(0, USER_AGENT_CHARS),
    expiresAt: expiry(now, now),
  }
  await console.store.createSession(session, before && hashSecret(before), now)
  setCookie(call, console, secret, LIFE_MS / 1000)
}

export async function endSession(call: Call, console: Console, session: Session): Promise<void> {
  await console.store.revokeSession(session.accountId, session.id)
  setCookie(call, console, '', 0)
}
