/** What keeps the console to its operator: origins, cookies, sessions, guessing. */
import { createHook } from 'node:async_hooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { consoleEndpoints, roomEndpoints } from '../../src/web/index.ts'
import { createAccount, PASSWORD } from '../accounts.ts'
import { type Answer, embedded, incomingOf, openService, type TestService } from '../harness.ts'

const HOUR_MS = 3_600_000

const form = (fields: Readonly<Record<string, string>>) => ({
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

const cookieOf = (answer: Answer): string =>
  (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

describe('the console', () => {
  let service: TestService
  let accounts = 0
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    service.call('GET', path, { headers: { accept: 'text/html', ...headers } })

  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const sent = form(fields)
    return service.call('POST', path, { ...sent, headers: { ...sent.headers, ...headers } })
  }

  const account = async () => {
    const email = `keeper${++accounts}@example.org`
    return { email, ...(await createAccount(service, email)) }
  }

  const signIn = async (email: string, headers?: Readonly<Record<string, string>>) => {
    const answer = await post('/console/sign-in', { email, password: PASSWORD }, headers)
    expect(answer.status).toBe(303)
    return cookieOf(answer)
  }

  const isSignedIn = async (cookie: string): Promise<boolean> =>
    (await get('/console', { cookie })).status === 200

  test('a form from the console’s own page passes, with and without Fetch Metadata', async () => {
    const { email } = await account()
    await signIn(email, { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:8787' })
    await signIn(email, { 'sec-fetch-site': 'none' })
    await signIn(email, { origin: 'http://127.0.0.1:8787' })
  })

  test('the cookie is for the server alone, and for this site alone', async () => {
    const { email } = await account()
    const answer = await post('/console/sign-in', { email, password: PASSWORD })
    const [pair, ...flags] = (answer.headers.get('set-cookie') ?? '').split('; ')
    expect(pair).toMatch(/^agent-home-session=[\w-]{43}$/)
    expect(flags.toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax'])
  })

  test('signing in rotates the session: the secret from before opens nothing', async () => {
    const { email } = await account()
    const before = await signIn(email)
    const after = await signIn(email, { cookie: before })
    expect(after).not.toBe(before)
    expect([await isSignedIn(before), await isSignedIn(after)]).toEqual([false, true])
  })

  test('a secret that a visitor brings along is never taken over', async () => {
    const { email } = await account()
    const fixed = `agent-home-session=${'a'.repeat(43)}`
    expect(await signIn(email, { cookie: fixed })).not.toBe(fixed)
    expect(await isSignedIn(fixed)).toBe(false)
  })

  test('a session ends after 12 hours without a visit', async () => {
    const { email } = await account()
    const cookie = await signIn(email)
    service.tick(11 * HOUR_MS)
    expect(await isSignedIn(cookie)).toBe(true)
    service.tick(11 * HOUR_MS)
    expect(await isSignedIn(cookie)).toBe(true)
    service.tick(12 * HOUR_MS)
    expect(await isSignedIn(cookie)).toBe(false)
  })

  test('a session ends after 7 days, however often it was visited', async () => {
    const { email } = await account()
    const cookie = await signIn(email)
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      service.tick(8 * HOUR_MS)
      expect(await isSignedIn(cookie)).toBe(true)
    }
    service.tick(8 * HOUR_MS)
    expect(await isSignedIn(cookie)).toBe(false)
  })

  test('signing out ends the session in the store, not in the browser alone', async () => {
    const { email } = await account()
    const cookie = await signIn(email)
    const out = await post('/console/sign-out', {}, { cookie })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await isSignedIn(cookie)).toBe(false)
  })

  const anonymous = ({ text }: Answer, email: string): string => text.replaceAll(email, '…')

  /** How many hashes are computed for it, in threads of their own. */
  async function hashesOf(work: () => Promise<unknown>): Promise<number> {
    let begun = 0
    const hook = createHook({
      init: (_, type) => {
        if (type === 'ARGON2REQUEST') begun++
      },
    }).enable()
    await work().finally(() => hook.disable())
    return begun
  }

  test('a known and an unknown address get the same answer for the same work', async () => {
    const email = 'hashed@example.org'
    await service.birth({ email, password: PASSWORD })
    const attempt = async (address: string) => {
      const fields = { email: address, password: 'wrong horse battery' }
      const { status, ...answer } = await post('/console/sign-in', fields)
      expect(status).toBe(401)
      return anonymous({ status, ...answer }, address)
    }
    expect(await attempt('nobody@example.org')).toBe(await attempt(email))
    // Both at the cost of `decoyHash`, as test/home/passwords.test.ts has it.
    expect(await hashesOf(() => attempt(email))).toBe(1)
    expect(await hashesOf(() => attempt('nobody@example.org'))).toBe(1)
  })

  test('the way back after signing in never leaves the console', async () => {
    const { email } = await account()
    const ways = [
      '//evil.example',
      'https://evil.example',
      '/console/../api',
      '/\\evil.example',
      '/x',
      'https://evil.example/console/agents',
      'http://',
      '/x/console/agents',
      '/consoles/agents',
    ]
    for (const next of ways) {
      const fields = { email, password: PASSWORD, next }
      const { headers } = await post('/console/sign-in', fields)
      expect(headers.get('location')).toBe('/console')
    }
    const next = '/console/agents/1/memory?key=plan.current&saved'
    const { headers } = await post('/console/sign-in', { email, password: PASSWORD, next })
    expect(headers.get('location')).toBe(next)
  })

  test('forms are read strictly', async () => {
    const { agentId, email, token } = await account()
    const cookie = await signIn(email)
    const send = (body: string, type = 'application/x-www-form-urlencoded') => {
      const headers = { cookie, 'content-type': type }
      return service.call('POST', `/console/agents/${agentId}/status`, { body, headers })
    }
    const outcomes = [
      await send('status=paused&status=active'),
      await send('status=%ff'),
      await send('status=%00'),
      await send(`status=${'x'.repeat(131_073)}`),
      await send('{"status":"paused"}', 'application/json'),
      await send('status=paused', 'text/plain'),
      await send('status=gone'),
    ]
    expect(outcomes.map(({ status }) => status)).toEqual([400, 400, 400, 413, 415, 415, 400])
    const { body } = await service.call('GET', '/api/agents/me', { token })
    expect(body.profile).toMatchObject({ status: 'active' })
  })

  test('a birth without consent or symbol is refused beside its field', async () => {
    const fields = { name: 'Atlas', purpose: 'Keeps a plan.', email: 'a@example.org' }
    const { status, text } = await post('/console/birth', { ...fields, password: PASSWORD })
    expect(status).toBe(400)
    expect(text).toMatch(/id="symbol-fault">This must be chosen/)
    expect(text).toMatch(/id="operatorConsent-fault">This must be ticked/)
    expect(await service.store.findAccount('a@example.org')).toBeUndefined()
  })

  test('every page keeps itself to itself', async () => {
    const { agentId, email } = await account()
    const cookie = await signIn(email)
    const pages = [...consoleEndpoints, ...roomEndpoints].filter(
      ({ method, operationId }) => method === 'GET' && !/^asset$|Events$/.test(operationId),
    )
    for (const { path } of pages) {
      const at = path.replace(':agent', agentId).replace(':room', 'shepit-wall')
      const { headers } = await get(at, { cookie })
      if (headers.get('location')) continue
      if (headers.get('content-disposition')) continue
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
      )
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('strict-transport-security')).toBeNull()
    }
  })

  test('a program that asks for a console page gets problems as JSON', async () => {
    const { status, headers, body } = await service.call('GET', '/console/nowhere')
    expect([status, headers.get('content-type'), body.code]).toEqual([
      404,
      'application/problem+json',
      'not_found',
    ])
    const page = await get('/console/nowhere')
    expect([page.status, page.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
  })

  test('a problem’s page is for people, and its JSON for programs', async () => {
    const page = await get('/problems/version_conflict')
    expect(page.text).toContain('<h1>The memory is at a different version</h1>')
    const { body, headers } = await service.call('GET', '/problems/version_conflict')
    expect(body).toMatchObject({ code: 'version_conflict', status: 409 })
    expect(headers.get('vary')).toBe('Accept')
    expect((await get('/problems/nothing')).status).toBe(404)
  })
})

describe('the console behind https', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, {
      PUBLIC_URL: 'https://home.example',
      SIGN_IN_FAILURES_PER_HOUR: '2',
    })
  })
  afterAll(() => service.close())

  const signIn = (email: string, password: string, origin = 'https://home.example') => {
    const { body, headers } = form({ email, password })
    return service.call('POST', '/console/sign-in', { body, headers: { ...headers, origin } })
  }

  test('the cookie is bound to the host and to https, and so are the pages', async () => {
    await service.birth({ email: 'keeper@example.org', password: PASSWORD })
    const { headers } = await signIn('keeper@example.org', PASSWORD)
    const [pair, ...flags] = (headers.get('set-cookie') ?? '').split('; ')
    expect(pair).toMatch(/^__Host-agent-home-session=/)
    expect(flags).toContain('Secure')
    const page = await service.call('GET', '/console/sign-in')
    expect(page.headers.get('strict-transport-security')).toMatch(/^max-age=\d+$/)
  })

  test('a page that another name led here to is not our own, though Host says so', async () => {
    const { body, headers } = form({ email: 'keeper@example.org', password: PASSWORD })
    const origin = 'http://evil.example'
    const incoming = incomingOf('POST', '/console/sign-in', {
      body,
      headers: { ...headers, origin },
    })
    const { status } = await service.app.serve({ ...incoming, host: 'evil.example' })
    expect(status).toBe(403)
  })

  test('guessing is throttled by account, known or not, with the same answer', async () => {
    await service.birth({ email: 'target@example.org', password: PASSWORD })
    for (const email of ['target@example.org', 'nobody@example.org']) {
      const statuses = []
      for (let i = 0; i < 3; i++) statuses.push((await signIn(email, 'wrong password')).status)
      expect(statuses).toEqual([401, 401, 429])
    }
    const locked = await signIn('target@example.org', PASSWORD)
    expect([locked.status, locked.headers.has('set-cookie')]).toEqual([429, false])
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(60)
  })
})
