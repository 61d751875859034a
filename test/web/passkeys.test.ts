/** Passkeys beside the password: added after a second look, and what they open. */
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyRegistration } from '../../src/web/console/passkeys/webauthn.ts'
import { PASSWORD } from '../accounts.ts'
import { type Authenticator, newAuthenticator, type Odd, type Options } from '../authenticator.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { textIn } from './markup.ts'
import { type Operator, openConsole, sendForm } from './operator.ts'

const HERE = 'https://home.example'
const MINUTE_MS = 60_000

const PAGE = '/console/account/passkeys'
const SIGN_IN = '/console/sign-in/passkey'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { PUBLIC_URL: HERE })
})
afterAll(() => service.close())

const optionsAt = async ({ get }: Operator, path: string): Promise<Options> =>
  JSON.parse((await get(path)).text) as Options

const add = async (operator: Operator, device: Authenticator, odd: Odd = {}) => {
  const passkey = device.create(await optionsAt(operator, `${PAGE}/new`), odd)
  return operator.post(PAGE, { passkey })
}

/** An account with a passkey, and the device that has it. */
async function withPasskey(at: TestService = service) {
  const operator = await openConsole(at)
  const device = newAuthenticator(HERE)
  const { status, headers } = await add(operator, device)
  expect([status, headers.get('location')]).toEqual([303, '/console/account?added'])
  return { operator, device }
}

const signInOptions = async (at: TestService = service): Promise<Options> =>
  (await at.call('GET', SIGN_IN)).body as unknown as Options

const present = async (passkey: string, at: TestService = service) => {
  const { status, headers, text } = await sendForm(at, SIGN_IN, { passkey })
  const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { status, cookie, text, location: headers.get('location') }
}

const signIn = async (device: Authenticator, odd: Odd = {}, at: TestService = service) =>
  present(device.get(await signInOptions(at), odd), at)

const account = async ({ get }: Operator): Promise<string> =>
  textIn((await get('/console/account')).text)

describe('adding one', () => {
  test('it is listed by its device, and signs in to its own account', async () => {
    const { operator, device } = await withPasskey()
    expect(await account(operator)).toMatch(/A browser, not used yet\s+Added just now/)
    const { status, cookie, location } = await signIn(device)
    expect([status, location]).toEqual([303, '/console'])
    const { text } = await service.call('GET', '/console/account', {
      headers: { accept: 'text/html', cookie },
    })
    expect(textIn(text)).toContain(operator.email)
    expect(await account(operator)).toContain('last used just now')
  })

  test('is asked for in the standard’s words, by a name that tells nothing', async () => {
    const operator = await openConsole(service)
    const { device } = await withPasskey()
    expect(await optionsAt(operator, `${PAGE}/new`)).toMatchObject({
      rp: { id: 'home.example', name: 'Agent Home' },
      user: { name: operator.email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    })
    expect(await signInOptions()).toMatchObject({
      rpId: 'home.example',
      userVerification: 'required',
      allowCredentials: [],
    })
    expect(JSON.stringify(await signInOptions())).not.toContain(device.id)
  })

  test('a device that has one is told so', async () => {
    const { operator, device } = await withPasskey()
    const { excludeCredentials } = (await optionsAt(operator, `${PAGE}/new`)) as never
    const kept = { id: device.id, transports: ['internal'], type: 'public-key' }
    expect(excludeCredentials).toEqual([kept])
  })

  test('asks for the password first, where that was long ago', async () => {
    const operator = await openConsole(service)
    service.tick(10 * MINUTE_MS)
    const first = (await operator.get(PAGE)).text
    expect(first).toContain('Your password')
    expect(first).not.toContain('data-passkey="create"')
    expect((await add(operator, newAuthenticator(HERE))).status).toBe(400)
    expect(await account(operator)).not.toContain('not used yet')
    const { status, headers } = await operator.post(PAGE, { password: PASSWORD })
    expect([status, headers.get('location')]).toEqual([303, PAGE])
    const next = (await operator.get(PAGE)).text
    expect(next).toContain('data-passkey="create"')
    expect(next).not.toMatch(/Your password|Go on/)
    expect((await add(operator, newAuthenticator(HERE))).status).toBe(303)
  })

  test('needs a session', async () => {
    for (const path of [PAGE, `${PAGE}/new`, `${PAGE}/proof`]) {
      const { status } = await service.call('GET', path, { headers: { accept: 'text/html' } })
      expect([path, status]).toEqual([path, 303])
    }
    expect((await sendForm(service, PAGE, { passkey: '{}' })).status).toBe(403)
  })

  const other = newAuthenticator(HERE)
  const certificate = new Map<string, unknown>([['x5c', [new Uint8Array(4)]]])
  test.each<[string, Odd]>([
    ['another site’s page', { origin: 'https://evil.example' }],
    ['another port', { origin: 'https://home.example:8443' }],
    ['another site', { site: 'evil.example' }],
    ['nobody verified', { isVerified: false }],
    ['the other ceremony', { type: 'webauthn.get' }],
    ['a made-up challenge', { challenge: 'a'.repeat(75) }],
    ['no challenge', { challenge: '' }],
    ['a certificate', { format: 'packed', statement: certificate }],
    ['another format', { format: 'tpm' }],
    ['another’s id', { id: other.id }],
  ])('is refused with %s', async (_, odd) => {
    const operator = await openConsole(service)
    const device = newAuthenticator(HERE)
    const { status, text } = await add(operator, device, odd)
    // An id is what was signed for, not what is said beside it.
    if (odd.id) {
      expect(status).toBe(303)
      expect((await signIn(device, { id: other.id })).status).toBe(401)
      return
    }
    expect([status, textIn(text).includes('was not added')]).toEqual([401, true])
    expect((await signIn(device)).status).toBe(401)
  })

  test.each(['packed', 'apple', 'fido-u2f'])(
    'certificates of the format %s are refused before anybody looks at them',
    async (format) => {
      const options = { challenge: 'a'.repeat(75) }
      const text = newAuthenticator(HERE).create(options, { format, statement: certificate })
      const party = { name: 'home.example', origin: HERE }
      const refused = verifyRegistration(party, text, () => ({ hash: '', expiresAt: 0 }))
      await expect(refused).rejects.toThrow('an attestation was sent')
    },
  )

  test.each(['{', '[]', '{}', 'null', '{"id":"x"}'])(
    'is refused where it is %j',
    async (passkey) => {
      const operator = await openConsole(service)
      expect((await operator.post(PAGE, { passkey })).status).toBe(401)
    },
  )

  test('a form that is sent again, also after the passkey was removed, adds nothing', async () => {
    const operator = await openConsole(service)
    const device = newAuthenticator(HERE)
    const passkey = device.create(await optionsAt(operator, `${PAGE}/new`))
    expect((await operator.post(PAGE, { passkey })).status).toBe(303)
    expect((await operator.post(`${PAGE}/remove`, { id: device.id })).status).toBe(303)
    const { status, text } = await operator.post(PAGE, { passkey })
    expect([status, textIn(text).includes('was already sent')]).toEqual([401, true])
  })

  test('a challenge is the session’s own, and lasts five minutes', async () => {
    const [operator, stranger] = [await openConsole(service), await openConsole(service)]
    const device = newAuthenticator(HERE)
    const passkey = device.create(await optionsAt(operator, `${PAGE}/new`))
    expect((await stranger.post(PAGE, { passkey })).status).toBe(401)
    service.tick(5 * MINUTE_MS)
    expect((await operator.post(PAGE, { passkey })).status).toBe(401)
    const late = device.create(await optionsAt(operator, `${PAGE}/new`))
    service.tick(4 * MINUTE_MS)
    expect((await operator.post(PAGE, { passkey: late })).status).toBe(303)
  })

  test('the passkey of another account is not taken over', async () => {
    const { device } = await withPasskey()
    const stranger = await openConsole(service)
    const { status, text } = await add(stranger, device)
    expect([status, textIn(text).includes('already belongs to an account')]).toEqual([401, true])
  })

  test('ends at ten, and the page says so', async () => {
    const { operator } = await withPasskey()
    for (let n = 0; n < 9; n++) await add(operator, newAuthenticator(HERE))
    expect(await account(operator)).toContain('There are 10, the maximum for an account')
    const { status, text } = await add(operator, newAuthenticator(HERE))
    expect([status, textIn(text).includes('an account may have 10')]).toEqual([401, true])
  })
})

describe('signing in with one', () => {
  test('an answer opens one session', async () => {
    const { device } = await withPasskey()
    const passkey = device.get(await signInOptions())
    const both = await Promise.all([present(passkey), present(passkey)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 401])
    expect((await present(passkey)).status).toBe(401)
  })

  const { privateKey: signedBy } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  test.each<[string, Odd]>([
    ['another site’s page', { origin: 'https://evil.example' }],
    ['plain http', { origin: 'http://home.example' }],
    ['another site', { site: 'evil.example' }],
    ['nobody verified', { isVerified: false }],
    ['the other ceremony', { type: 'webauthn.create' }],
    ['a made-up challenge', { challenge: 'a'.repeat(75) }],
    ['another key', { signedBy }],
    ['another account’s name', { userHandle: 'b3RoZXI' }],
    ['no account’s name', { userHandle: undefined }],
    ['an id that nobody has', { id: newAuthenticator(HERE).id }],
  ])('is refused with %s, in the same words', async (_, odd) => {
    const { device } = await withPasskey()
    const { status, text, cookie } = await signIn(device, odd)
    expect([status, cookie]).toEqual([401, ''])
    expect(textIn(text)).toContain('Nothing was changed. Try again')
    expect((await signIn(device)).status).toBe(303)
  })

  test('a challenge for one thing is none for another', async () => {
    const { operator, device } = await withPasskey()
    for (const path of [`${PAGE}/new`, `${PAGE}/proof`]) {
      expect((await present(device.get(await optionsAt(operator, path)))).status).toBe(401)
    }
    const passkey = device.create(await signInOptions())
    expect((await operator.post(PAGE, { passkey })).status).toBe(401)
  })

  test('a challenge lasts five minutes', async () => {
    const { device } = await withPasskey()
    const passkey = device.get(await signInOptions())
    service.tick(5 * MINUTE_MS)
    expect((await present(passkey)).status).toBe(401)
  })

  test('a challenge is good at a node whose clock is a minute behind, and no more', async () => {
    const { device } = await withPasskey()
    const passkey = device.get(await signInOptions())
    service.tick(-1.5 * MINUTE_MS)
    const early = await present(passkey)
    service.tick(MINUTE_MS)
    const late = await present(passkey)
    service.tick(MINUTE_MS / 2)
    expect([early.status, late.status]).toEqual([401, 303])
  })

  test('an answer is taken once, also by a node whose clock is a minute behind', async () => {
    const { device } = await withPasskey()
    const passkey = device.get(await signInOptions(), { counter: 0 })
    expect((await present(passkey)).status).toBe(303)
    service.tick(5 * MINUTE_MS)
    // What is spent by then may be forgotten.
    expect((await signIn(device, { counter: 0 })).status).toBe(303)
    service.tick(-MINUTE_MS)
    const again = await present(passkey)
    service.tick(MINUTE_MS)
    expect(again.status).toBe(401)
  })

  test('one that counts backwards may be a copy: it is refused, and its owner told', async () => {
    const { device } = await withPasskey()
    expect((await signIn(device, { counter: 7 })).status).toBe(303)
    const { status, text } = await signIn(device, { counter: 7 })
    expect([status, textIn(text).includes('there may be a copy of it')]).toEqual([401, true])
    const guessed = await signIn(device, { counter: 7, signedBy })
    expect(textIn(guessed.text)).not.toContain('copy')
    expect((await signIn(device, { counter: 8 })).status).toBe(303)
  })

  test('one that was removed opens nothing; the password does', async () => {
    const { operator, device } = await withPasskey()
    expect((await operator.post(`${PAGE}/remove`, { id: device.id })).status).toBe(303)
    expect((await signIn(device)).status).toBe(401)
    expect((await operator.post(`${PAGE}/remove`, { id: device.id })).status).toBe(404)
    const fields = { email: operator.email, password: PASSWORD }
    expect((await sendForm(service, '/console/sign-in', fields)).status).toBe(303)
  })

  test('nobody removes another account’s', async () => {
    const { device } = await withPasskey()
    const stranger = await openConsole(service)
    expect((await stranger.post(`${PAGE}/remove`, { id: device.id })).status).toBe(404)
    expect((await signIn(device)).status).toBe(303)
  })

  test('leads on to where one was going, and nowhere else', async () => {
    const { device } = await withPasskey()
    const to = async (next: string) => {
      const passkey = device.get(await signInOptions())
      return (await sendForm(service, SIGN_IN, { passkey, next })).headers.get('location')
    }
    expect(await to('/console/account')).toBe('/console/account')
    expect(await to('https://evil.example/console')).toBe('/console')
  })

  test('another site cannot send the form', async () => {
    const { device } = await withPasskey()
    const passkey = device.get(await signInOptions())
    const elsewhere = { 'sec-fetch-site': 'cross-site' }
    expect((await sendForm(service, SIGN_IN, { passkey }, elsewhere)).status).toBe(403)
    expect((await present(passkey)).status).toBe(303)
  })

  test('is counted as the password is, whether anybody has the passkey or not', async () => {
    const guarded = await openService(embedded, {
      PUBLIC_URL: HERE,
      SIGN_IN_FAILURES_PER_HOUR: '2',
    })
    const { device } = await withPasskey(guarded)
    const unknown = newAuthenticator(HERE)
    const triedBy = async (by: Authenticator) => {
      const statuses = []
      for (let n = 0; n < 3; n++) {
        const passkey = by.get(await signInOptions(guarded), { signedBy })
        const { status } = await guarded.call('POST', SIGN_IN, {
          body: new URLSearchParams({ passkey }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          from: '198.51.100.9',
        })
        statuses.push(status)
      }
      return statuses
    }
    expect(await triedBy(device)).toEqual([401, 401, 429])
    expect(await triedBy(unknown)).toEqual([401, 401, 429])
    // Strangers keep nobody out.
    expect((await signIn(device, {}, guarded)).status).toBe(303)
    await guarded.close()
  })

  test('costs what a sign-in costs', async () => {
    const guarded = await openService(embedded, { PUBLIC_URL: HERE, SIGN_INS_PER_MINUTE: '2' })
    const { device } = await withPasskey(guarded)
    const statuses = []
    for (let n = 0; n < 2; n++) statuses.push((await signIn(device, {}, guarded)).status)
    expect(statuses).toEqual([303, 429])
    await guarded.close()
  })
})

describe('a second look', () => {
  /** The password was given ten minutes ago. */
  async function later() {
    const signedIn = await withPasskey()
    service.tick(10 * MINUTE_MS)
    return signedIn
  }

  const attach = async ({ post }: Operator, fields: Readonly<Record<string, string>>) => {
    const orphan = await service.birth()
    return post('/console/attach', { token: orphan.operatorToken, ...fields })
  }

  const proofOf = async (operator: Operator, device: Authenticator, odd: Odd = {}) =>
    device.get(await optionsAt(operator, `${PAGE}/proof`), odd)

  test('takes a passkey in the place of the password, for ten minutes', async () => {
    const { operator, device } = await later()
    const { text } = await operator.get('/console/attach')
    expect(text).toContain('Use a passkey')
    const proof = await proofOf(operator, device)
    expect((await attach(operator, { proof })).status).toBe(303)
    service.tick(9 * MINUTE_MS)
    expect((await attach(operator, {})).status).toBe(303)
    service.tick(MINUTE_MS)
    expect((await attach(operator, { proof })).status).toBe(400)
  })

  test('is asked of the account’s own passkeys for this name', async () => {
    const { operator, device } = await later()
    await withPasskey()
    const { allowCredentials } = (await optionsAt(operator, `${PAGE}/proof`)) as never
    expect(allowCredentials).toMatchObject([{ id: device.id }])
  })

  test('is not offered where there is none', async () => {
    const operator = await openConsole(service)
    service.tick(10 * MINUTE_MS)
    expect((await operator.get('/console/attach')).text).not.toContain('Use a passkey')
  })

  test('is refused with another account’s, a sign-in’s, or another session’s answer', async () => {
    const [{ operator, device }, stranger] = [await later(), await later()]
    const elsewhere = await signIn(device)
    const { body } = await service.call('GET', `${PAGE}/proof`, {
      headers: { cookie: elsewhere.cookie },
    })
    const proofs = [
      stranger.device.get(await optionsAt(operator, `${PAGE}/proof`)),
      await proofOf(stranger.operator, stranger.device),
      device.get(await signInOptions()),
      device.get(body as unknown as Options),
      device.get(await optionsAt(operator, `${PAGE}/new`)),
      await proofOf(operator, device, { origin: 'https://evil.example' }),
    ]
    for (const proof of proofs) {
      const { status, text } = await attach(operator, { proof })
      expect([status, textIn(text).includes('This passkey is not accepted')]).toEqual([400, true])
    }
    expect((await attach(operator, { proof: await proofOf(operator, device) })).status).toBe(303)
  })

  test('an answer is taken once, and guesses are counted as failed sign-ins', async () => {
    const guarded = await openService(embedded, { PUBLIC_URL: HERE, FAILURES_PER_MINUTE: '2' })
    const { operator, device } = await withPasskey(guarded)
    guarded.tick(10 * MINUTE_MS)
    const statuses = []
    for (const origin of ['https://a.example', 'https://b.example', 'https://c.example', HERE]) {
      const proof = await proofOf(operator, device, { origin })
      const fields = { agents: 'leave', typed: 'another', proof }
      statuses.push((await operator.post('/console/account/delete', fields)).status)
    }
    expect(statuses).toEqual([400, 400, 429, 429])
    await guarded.close()
  })
})

describe('where they are not offered', () => {
  test.each([
    ['by an IP address', {}, 'opened by an IP address'],
    ['over plain http', { PUBLIC_URL: 'http://home.example' }, 'only over https'],
  ])('%s, the pages say why in a sentence, and nothing is asked', async (_, env, why) => {
    const elsewhere = await openService(embedded, env)
    const operator = await openConsole(elsewhere)
    for (const path of ['/console/account', PAGE]) {
      expect(textIn((await operator.get(path)).text)).toContain(why)
    }
    const { text } = await elsewhere.call('GET', '/console/sign-in', {
      headers: { accept: 'text/html' },
    })
    expect(textIn(text)).toContain(why)
    expect(text).not.toContain('data-passkey')
    const asked = await elsewhere.call('GET', SIGN_IN)
    expect([asked.status, String(asked.body.detail).includes(why)]).toEqual([404, true])
    const device = newAuthenticator('http://127.0.0.1:8787')
    const passkey = device.create({ challenge: 'a'.repeat(75) })
    expect((await operator.post(PAGE, { passkey })).status).toBe(401)
    await elsewhere.close()
  })
})

describe('what becomes of them', () => {
  test('with a changed password they stay, and the page says so', async () => {
    const { operator, device } = await withPasskey()
    const fields = { current: PASSWORD, password: 'a battery of horses' }
    const { headers } = await operator.post('/console/account/password', fields)
    const { text } = await operator.get(headers.get('location') ?? '')
    expect(textIn(text)).toContain('Passkeys still work')
    expect((await signIn(device)).status).toBe(303)
  })

  test('with the account they go', async () => {
    const { operator, device } = await withPasskey()
    const fields = { agents: 'leave', typed: operator.email }
    expect((await operator.post('/console/account/delete', fields)).status).toBe(303)
    expect((await signIn(device)).status).toBe(401)
  })
})
