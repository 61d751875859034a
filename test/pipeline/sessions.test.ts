/** How a browser stays signed in. */
import { randomBytes } from 'node:crypto'
import { BlockList } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { beginCall, type Call } from '../../src/http/call.ts'
import { beginSession, currentSession, endSession } from '../../src/pipeline/sessions.ts'
import type { Session } from '../../src/store/port/sessions.ts'
import { embedded, incomingOf, openService, type TestService } from '../harness.ts'
import { newBirth, noLimits } from '../store/fixture.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const START = Date.UTC(2026, 0, 5)

const callOf = (headers: Readonly<Record<string, string>> = {}): Call =>
  beginCall('r1', incomingOf('GET', '/console', { headers }), {})

const cookieOf = ({ responseHeaders }: Call): string =>
  responseHeaders['Set-Cookie']?.split(';')[0] ?? ''

describe('a session', () => {
  let service: TestService
  let accountId: string
  let now: number
  let accounts = 0
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    now = START
    accountId = `account-${++accounts}`
    const create = { id: accountId, email: `${accountId}@example.org`, passwordHash: 'none' }
    await service.store.bear(newBirth({ account: { create } }), noLimits, now)
  })

  const deps = () => ({
    sessions: service.store,
    secure: false,
    trustedProxies: new BlockList(),
    clock: () => now,
    random: (bytes: number) => randomBytes(bytes),
  })

  const account = () => ({ id: accountId, email: `${accountId}@example.org` })

  const begin = async (headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const call = callOf(headers)
    await beginSession(call, deps(), account())
    return cookieOf(call)
  }

  const visit = (cookie: string): Promise<Session | undefined> =>
    currentSession(callOf({ cookie }), deps())

  const kept = async (): Promise<Session> => {
    const [session, ...more] = await service.store.listSessions(accountId, now)
    if (!session || more.length > 0) throw new Error('the account has not one session')
    return session
  }

  test('over https is bound to this very host, and sent nowhere else', async () => {
    const call = callOf()
    await beginSession(call, { ...deps(), secure: true }, account())
    expect(call.responseHeaders['Set-Cookie']).toMatch(
      /^__Host-agent-home-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(await visit(cookieOf(call))).toBeUndefined()
  })

  test('ends after seven days, however lately it was visited', async () => {
    const cookie = await begin()
    for (let visits = 0; visits < 14; visits++) {
      now += 12 * HOUR_MS - 1
      expect((await visit(cookie))?.accountId).toBe(accountId)
    }
    expect((await kept()).expiresAt).toBe(START + 7 * 24 * HOUR_MS)
    now = START + 7 * 24 * HOUR_MS
    expect(await visit(cookie)).toBeUndefined()
  })

  test('ends after twelve hours without a visit', async () => {
    const cookie = await begin()
    expect((await kept()).expiresAt).toBe(START + 12 * HOUR_MS)
    now += 12 * HOUR_MS
    expect(await visit(cookie)).toBeUndefined()
  })

  test('is prolonged by a visit, which is written down once a minute at most', async () => {
    const cookie = await begin()
    now += MINUTE_MS - 1
    await visit(cookie)
    expect(await kept()).toMatchObject({ seenAt: START, expiresAt: START + 12 * HOUR_MS })
    now += 1
    await visit(cookie)
    expect(await kept()).toMatchObject({ seenAt: now, expiresAt: now + 12 * HOUR_MS })
  })

  test('is found, and not prolonged, by what a page’s script asks for by itself', async () => {
    const cookie = await begin()
    now += HOUR_MS
    const asked = callOf({ cookie, 'sec-fetch-dest': 'empty' })
    expect((await currentSession(asked, deps()))?.accountId).toBe(accountId)
    expect(await kept()).toMatchObject({ seenAt: START, expiresAt: START + 12 * HOUR_MS })
    await currentSession(callOf({ cookie, 'sec-fetch-dest': 'document' }), deps())
    expect(await kept()).toMatchObject({ seenAt: now, expiresAt: now + 12 * HOUR_MS })
  })

  test('names the browser as it called itself, as far as that is short', async () => {
    await begin({ 'user-agent': `Mozilla/5.0 ${'x'.repeat(300)}` })
    expect((await kept()).userAgent).toBe(`Mozilla/5.0 ${'x'.repeat(188)}`)
  })

  test('of a browser without a name has none', async () => {
    await begin()
    expect((await kept()).userAgent).toBe('')
  })

  test('takes the place of the one that the browser had before', async () => {
    const before = await begin()
    const after = await begin({ cookie: before })
    expect(await visit(before)).toBeUndefined()
    expect((await visit(after))?.id).toBe((await kept()).id)
  })

  test('that is ended leaves the browser an empty cookie, which is nobody', async () => {
    const cookie = await begin()
    const session = await visit(cookie)
    if (!session) throw new Error('nobody is signed in')
    const call = callOf({ cookie })
    await endSession(call, deps(), session)
    expect(call.responseHeaders['Set-Cookie']).toMatch(/^agent-home-session=; Max-Age=0; Path=\/;/)
    expect([await visit(cookie), await visit(cookieOf(call))]).toEqual([undefined, undefined])
  })

  test('has an id that tells when it began', async () => {
    await begin()
    expect(Number.parseInt((await kept()).id.replace('-', '').slice(0, 12), 16)).toBe(START)
  })

  test('is not looked for where the browser sends no cookie', async () => {
    const findSession = () => Promise.reject(new Error('the store was asked'))
    const sessions = { ...service.store, findSession }
    expect(await currentSession(callOf(), { ...deps(), sessions })).toBeUndefined()
  })
})
