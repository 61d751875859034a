/** Who is signed in, whose agent it is, and what a program sends once. */
import { BlockList } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beginCall, type Call } from '../../src/http/call.ts'
import { singleHeaders } from '../../src/pipeline/guards/bearer.ts'
import { owner, session } from '../../src/pipeline/guards/session.ts'
import { beginSession } from '../../src/pipeline/sessions.ts'
import type { Session } from '../../src/store/port/sessions.ts'
import {
  embedded,
  incomingOf,
  openService,
  type SentHeaders,
  type TestService,
} from '../harness.ts'
import { newBirth, noLimits } from '../store/fixture.ts'

const callOf = (headers: SentHeaders = {}): Call =>
  beginCall('r1', incomingOf('GET', '/console', { headers }), {})

const ofCode = (code: string) => expect.objectContaining({ code })

describe('a page about an agent', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  const deps = () => ({
    sessions: service.store,
    secure: false,
    trustedProxies: new BlockList(),
    clock: service.now,
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  })

  let people = 0

  /** A person with an agent, signed in. */
  async function person(): Promise<{ agentId: string; cookie: string; signedIn: Session }> {
    const accountId = `person-${++people}`
    const create = { id: accountId, email: `${accountId}@example.org`, passwordHash: 'none' }
    const birth = newBirth({ account: { create } })
    await service.store.bear(birth, noLimits, service.now())
    const call = callOf()
    await beginSession(call, deps(), create)
    const cookie = call.responseHeaders['Set-Cookie']?.split(';')[0] ?? ''
    const { session: signedIn } = await session.run({ call: callOf({ cookie }) }, deps())
    return { agentId: birth.agentId, cookie, signedIn }
  }

  test('knows who is signed in by their cookie', async () => {
    const { cookie, signedIn } = await person()
    expect(await session.run({ call: callOf({ cookie }) }, deps())).toEqual({ session: signedIn })
  })

  test.each([{}, { cookie: 'agent-home-session=guess' }])(
    'is for nobody who is not signed in (%o)',
    async (headers) => {
      await expect(session.run({ call: callOf(headers) }, deps())).rejects.toEqual(
        ofCode('signed_out'),
      )
    },
  )

  test('is its operator’s, and the log says that it was asked in the console', async () => {
    const { agentId, signedIn } = await person()
    const call = callOf()
    const request = { call, session: signedIn, params: { agent: agentId } }
    const { identity } = await owner.run(request, deps())
    expect(identity).toMatchObject({ agentId, kind: 'operator', status: 'active' })
    expect(call.notes).toEqual({ agent: agentId, as: 'console' })
  })

  test('is nobody else’s, no more than one that never was', async () => {
    const { signedIn } = await person()
    const other = await person()
    for (const agent of [other.agentId, 'none', '']) {
      const call = callOf()
      const request = { call, session: signedIn, params: { agent } }
      await expect(owner.run(request, deps())).rejects.toMatchObject({
        code: 'not_found',
        extras: { detail: 'Your account has no such agent.' },
      })
      expect(call.notes).toEqual({})
    }
  })
})

describe('a header that must come once', () => {
  const NAMES = ['Authorization', 'Content-Type', 'Idempotency-Key']
  const pass = (headers: SentHeaders) => () =>
    void singleHeaders.run({ call: callOf(headers) }, undefined)

  test.each(NAMES)('%s, sent twice, is refused by its name', (name) => {
    expect(pass({ [name]: ['a', 'a'] })).toThrow(ofCode('duplicate_header'))
    expect(pass({ [name]: ['a', 'a'] })).toThrow(`Send the ${name.toLowerCase()} header once.`)
  })

  test.each(NAMES)(
    '%s, sent once, may hold a comma: what it means is told by who reads it',
    (name) => {
      expect(pass({ [name]: 'a,a' })).not.toThrow()
      expect(pass({ [name]: 'a' })).not.toThrow()
    },
  )

  test('any other may come as often as it likes', () => {
    expect(pass({ accept: ['a', 'b'], 'x-note': ['content-type', 'content-type'] })).not.toThrow()
    expect(
      pass({ authorization: 'a,b', 'x-note': ['authorization', 'authorization'] }),
    ).not.toThrow()
  })
})
