import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/uuid.ts'
import { createAccount, PASSWORD } from '../accounts.ts'
import {
  type Answer,
  birthBody,
  type CallOptions,
  engines,
  freshKey,
  openService,
  type TestService,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { newBirth, noLimits } from '../store/fixture.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(engines)('guessing an account’s password on $name', (engine) => {
  let service: TestService
  let accounts = 0
  beforeAll(async () => {
    service = await openService(engine, { SIGN_IN_FAILURES_PER_HOUR: '2' })
  })
  afterAll(() => service.close())

  /** An account that was made at no address of these tests. */
  const account = async (): Promise<string> => {
    const email = `keeper${++accounts}@example.org`
    await createAccount(service, email)
    return email
  }

  const join = (email: string, password: string, from: string) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, email, password },
      from,
    })

  const signIn = (email: string, password: string, { from, headers }: CallOptions = {}) =>
    service.call('POST', '/console/sign-in', {
      headers: { ...FORM, ...headers },
      body: new URLSearchParams({ email, password }).toString(),
      ...(from !== undefined && { from }),
    })

  const guess = async (email: string, from: string, times: number): Promise<number[]> => {
    const statuses = []
    for (let n = 0; n < times; n++) statuses.push((await signIn(email, 'wrong', { from })).status)
    return statuses
  }

  const cookieOf = ({ headers }: Answer) => (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

  test('ends for that account from that address alone, and says so', async () => {
    const [one, two] = [await account(), await account()]
    expect(await guess(one, '192.0.2.1', 2)).toEqual([401, 401])
    const refused = await join(one.toUpperCase(), PASSWORD, '192.0.2.1')
    expectProblem(refused, 'too_many_wrong_passwords')
    expect(refused.body.detail).toMatch(/from your network/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
    expect(refused.headers.get('ratelimit-policy')).toBe('"sign-ins";q=2;w=3600')
    expect((await signIn(one, PASSWORD, { from: '192.0.2.2' })).status).toBe(303)
    expect((await signIn(two, PASSWORD, { from: '192.0.2.1' })).status).toBe(303)
  })

  test('ends for a whole /48 at once', async () => {
    const email = await account()
    expect(await guess(email, '2001:db8:1:1::1', 1)).toEqual([401])
    expect(await guess(email, '2001:db8:1:2::1', 2)).toEqual([401, 429])
    expect(await guess(email, '2001:db8:2:1::1', 1)).toEqual([401])
  })

  test('is the same for an account that does not exist', async () => {
    expect(await guess('nobody@example.org', '192.0.2.3', 3)).toEqual([401, 401, 429])
  })

  test('is counted, also with a password that nobody may choose', async () => {
    for (const email of [await account(), 'nobody@example.net']) {
      const statuses = []
      for (let n = 0; n < 3; n++) {
        statuses.push((await join(email, 'Password123!', '192.0.2.9')).status)
      }
      expect(statuses).toEqual([400, 400, 429])
    }
  })

  test('does not keep out whoever signed in from an address before, nor a session', async () => {
    const email = await account()
    const home = { from: '198.51.100.1' }
    const cookie = cookieOf(await signIn(email, PASSWORD, home))
    for (let n = 1; n <= 50; n++) await guess(email, `203.0.113.${n}`, 2)
    const elsewhere = await signIn(email, PASSWORD, { from: '203.0.113.99' })
    expect([elsewhere.status, elsewhere.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^\d{4}$/),
    ])
    const told = await join(email, PASSWORD, '203.0.113.99')
    expectProblem(told, 'too_many_wrong_passwords')
    expect(told.body.detail).toMatch(/from many addresses.*has signed in to this account before/)
    expect(told.headers.get('ratelimit-policy')).toBe('"sign-ins-in-all";q=100;w=3600')
    expect((await signIn(email, PASSWORD, home)).status).toBe(303)
    const visit = { from: '203.0.113.99', headers: { cookie } }
    expect((await service.call('GET', '/console', visit)).status).toBe(200)
  })

  test('does not keep out a browser that is signed in, wherever it is now', async () => {
    const email = await account()
    const cookie = cookieOf(await signIn(email, PASSWORD, { from: '198.51.100.2' }))
    await guess(email, '192.0.2.4', 3)
    expect((await signIn(email, PASSWORD, { from: '192.0.2.4' })).status).toBe(429)
    const signedIn = { from: '192.0.2.4', headers: { cookie } }
    expect((await signIn(email, PASSWORD, signedIn)).status).toBe(303)
    const others = { from: '192.0.2.5', headers: { cookie } }
    const other = await account()
    await guess(other, '192.0.2.5', 2)
    expect((await signIn(other, PASSWORD, others)).status).toBe(429)
  })

  test('ends for one account also where another was signed in from', async () => {
    const [mine, theirs] = [await account(), await account()]
    const from = '198.51.100.7'
    expect((await signIn(mine, PASSWORD, { from })).status).toBe(303)
    expect(await guess(theirs, from, 3)).toEqual([401, 401, 429])
    expect(await guess(mine, from, 3)).toEqual([401, 401, 401])
  })

  test('does not keep an owner out of the address of the birth', async () => {
    const email = 'born@example.org'
    await join(email, PASSWORD, '198.51.100.3')
    expect(await guess(email, '198.51.100.3', 5)).toEqual([401, 401, 401, 401, 401])
    expect((await signIn(email, PASSWORD, { from: '198.51.100.3' })).status).toBe(303)
  })
})

test('an account is signed in to a few times a minute, and no other waits for it', async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  const service = await openService(embedded, { SIGN_INS_PER_MINUTE: '2' })
  const signIn = (email: string) =>
    service.call('POST', '/console/sign-in', {
      headers: FORM,
      body: new URLSearchParams({ email, password: PASSWORD }).toString(),
    })
  const [one, other] = ['one@example.org', 'other@example.org']
  for (const email of [one, other]) await service.birth({ email, password: PASSWORD })
  expect([(await signIn(one)).status, (await signIn(one)).status]).toEqual([303, 303])
  const refused = await signIn(one.toUpperCase())
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect(refused.text).toContain('Continue in a browser that is already signed in')
  expect((await signIn(other)).status).toBe(303)
  await service.birth({ email: one, password: PASSWORD })
  await service.close()
})

describe('at an address that an account was signed in from', () => {
  const from = '198.51.100.4'
  const email = 'keeper@example.org'
  let service: TestService
  beforeAll(async () => {
    const [embedded] = engines
    if (!embedded) throw new Error('no engine')
    service = await openService(embedded, { FAILURES_PER_MINUTE: '3' })
    const headers = { 'idempotency-key': freshKey() }
    const body = { ...birthBody, email, password: PASSWORD }
    await service.call('POST', '/api/agents/birth', { headers, body, from })
  })
  afterAll(() => service.close())

  const signIn = (password: string) =>
    service.call('POST', '/console/sign-in', {
      headers: FORM,
      body: new URLSearchParams({ email, password }).toString(),
      from,
    })

  test('others’ failures do not count; a password that is wrong there is tried a few times a minute', async () => {
    for (let n = 0; n < 5; n++) {
      await service.call('GET', '/api/agents/me', { token: 'guess', from })
    }
    expect((await signIn(PASSWORD)).status).toBe(303)
    for (let n = 0; n < 3; n++) await signIn('wrong')
    const refused = await signIn(PASSWORD)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(refused.headers.get('ratelimit-policy')).toBe('"sign-ins-known";q=3;w=60')
  })

  test('wrong passwords keep out nobody at another such address, nor a browser elsewhere', async () => {
    const [other, elsewhere] = ['198.51.100.5', '198.51.100.6']
    const at = (password: string, place: string, headers = {}) =>
      service.call('POST', '/console/sign-in', {
        headers: { ...FORM, ...headers },
        body: new URLSearchParams({ email, password }).toString(),
        from: place,
      })
    const signedIn = await at(PASSWORD, other)
    expect(signedIn.status).toBe(303)
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0]
    for (let n = 0; n < 4; n++) await signIn('wrong')
    expect((await signIn(PASSWORD)).status).toBe(429)
    expect((await at(PASSWORD, other)).status).toBe(303)
    expect((await at(PASSWORD, elsewhere, { cookie })).status).toBe(303)
  })
})

describe('a client over its failures', () => {
  const from = '203.0.113.7'
  const FAILURES = 3
  let service: TestService
  beforeEach(async () => {
    const [embedded] = engines
    if (!embedded) throw new Error('no engine')
    service = await openService(embedded, { FAILURES_PER_MINUTE: String(FAILURES) })
  })
  afterEach(() => service.close())

  /** An account whose hash cannot be computed: whoever tries to is answered 500. */
  async function accountWithoutHash(email: string): Promise<void> {
    const create = { id: newId(service.now(), randomBytes), email, passwordHash: 'no hash of ours' }
    const { outcome } = await service.store.bear(
      newBirth({ account: { create } }),
      noLimits,
      service.now(),
    )
    expect(outcome).toBe('born')
  }

  const signInFrom = (address: string, email: string) =>
    service.call('POST', '/console/sign-in', {
      headers: FORM,
      body: new URLSearchParams({ email, password: 'wrong password' }).toString(),
      from: address,
    })
  const signIn = (email: string) => signInFrom(from, email)

  const fail = async () => {
    for (let n = 0; n < FAILURES; n++) {
      await service.call('GET', '/api/agents/me', { token: 'guess', from })
    }
  }

  const join = (email: string) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': freshKey() },
      body: { ...birthBody, email, password: 'wrong password' },
      from,
    })

  test('costs no hash, of whatever account', async () => {
    await accountWithoutHash('one@example.org')
    expect((await signIn('one@example.org')).status).toBe(500)
    await fail()
    for (const ask of [signIn, join]) {
      expect((await ask('one@example.org')).status).toBe(429)
      const nobody = await ask('nobody@example.org')
      expect(nobody.status).toBe(429)
    }
  })

  test('takes no turn: it is refused while others wait for theirs', async () => {
    await fail()
    const answered: string[] = []
    const attempt = async (address: string) => {
      await signInFrom(address, 'nobody@example.org')
      answered.push(address)
    }
    const others = Array.from({ length: 12 }, (_, n) => `198.51.100.${n + 1}`)
    await Promise.all([...others, from].map(attempt))
    // In its turn it would be behind all of them, but for the two that are hashed together.
    expect(answered.indexOf(from)).toBeLessThan(others.length / 2)
  })

  test('costs none for what waited meanwhile', async () => {
    const wrong = Array.from({ length: 2 * FAILURES }, (_, n) => `known${n}@example.org`)
    for (const email of wrong) await createAccount(service, email)
    const waiting = Array.from({ length: 10 }, (_, n) => `waiting${n}@example.org`)
    for (const email of waiting) await accountWithoutHash(email)
    const answers = await Promise.all([...wrong, ...waiting].map(signIn))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(FAILURES)
    expect(statuses.slice(wrong.length)).toEqual(waiting.map(() => 429))
  })
})
