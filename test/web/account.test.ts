/** The account of whoever is signed in: its password, and where it is signed in. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PASSWORD } from '../accounts.ts'
import { embedded, inGroups, openService, type TestService } from '../harness.ts'
import { fieldsIn, insideOf, textIn } from './markup.ts'
import { type Operator, openConsole, sendForm } from './operator.ts'

const NEXT = 'a battery of horses'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, {
    SIGN_INS_PER_MINUTE: '0',
    FAILURES_PER_MINUTE: '0',
  })
})
afterAll(() => service.close())

const signIn = async ({ email }: Operator, password = PASSWORD, userAgent = '') => {
  const fields = { email, password }
  const answer = await sendForm(service, '/console/sign-in', fields, { 'user-agent': userAgent })
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { status: answer.status, cookie }
}

const isSignedIn = async (cookie: string): Promise<boolean> =>
  (await service.call('GET', '/console', { headers: { accept: 'text/html', cookie } })).status ===
  200

const sessionsIn = (page: string): string[] =>
  insideOf(insideOf(page, 'ul').at(-1) ?? '', 'li').map((row) => textIn(row).trim())

const pageOf = async ({ get }: Operator): Promise<string> => (await get('/console/account')).text

describe('the sessions', () => {
  test('are told by device and place, in words', async () => {
    const operator = await openConsole(service)
    await signIn(operator, PASSWORD, FIREFOX)
    service.tick(3_600_000)
    const [first = '', second = ''] = sessionsIn(await pageOf(operator))
    expect(first).toMatch(/^Firefox on Linux, from 198.51.100.x, 1 hour ago/)
    expect(second).toMatch(/^A browser, .*, now\n/)
    expect(second).toContain('This browser')
  })

  test('a browser that is none is told as it calls itself, as text', async () => {
    const operator = await openConsole(service)
    await signIn(operator, PASSWORD, '<b>hostile</b> (x)')
    const page = await pageOf(operator)
    expect(sessionsIn(page).join()).toContain('<b>hostile</b>')
    expect(page).not.toContain('<b>')
  })

  test('one is ended by its row, and is among the earlier ones from then on', async () => {
    const operator = await openConsole(service)
    const { cookie } = await signIn(operator, PASSWORD, FIREFOX)
    const page = await pageOf(operator)
    expect(page).not.toContain('Earlier sign-ins')
    const row = insideOf(page, 'li').find((each) => each.includes('Firefox')) ?? ''
    const ended = await operator.post('/console/account/sessions', fieldsIn(row))
    expect([ended.status, await isSignedIn(cookie)]).toEqual([303, false])
    expect((await operator.get('/console')).status).toBe(200)
    const earlier = insideOf(await pageOf(operator), 'section').find((each) =>
      each.includes('Earlier sign-ins'),
    )
    expect(earlier).toContain('Firefox on Linux')
  })

  test('all others end at once, this one stays, and other accounts’ too', async () => {
    const [operator, stranger] = [await openConsole(service), await openConsole(service)]
    const elsewhere = await signIn(operator)
    const ended = await operator.post('/console/account/sessions/others', {})
    expect([ended.status, ended.headers.get('location')]).toEqual([303, '/console/account'])
    expect(await isSignedIn(elsewhere.cookie)).toBe(false)
    expect((await operator.get('/console')).status).toBe(200)
    expect((await stranger.get('/console')).status).toBe(200)
    expect(await pageOf(operator)).not.toContain('everywhere else')
  })
})

describe('the password', () => {
  const change = ({ post }: Operator, current: string, password = NEXT) =>
    post('/console/account/password', { current, password })

  test('is changed by whoever knows it, and every other session ends', async () => {
    const operator = await openConsole(service)
    const elsewhere = await signIn(operator)
    const { status, headers } = await change(operator, PASSWORD)
    expect([status, headers.get('location')]).toEqual([303, '/console/account?changed'])
    const { text } = await operator.get('/console/account?changed')
    expect(textIn(text)).toContain('The password is changed.')
    expect(await isSignedIn(elsewhere.cookie)).toBe(false)
    expect((await signIn(operator)).status).toBe(401)
    expect((await signIn(operator, NEXT)).status).toBe(303)
  })

  test('stays where the present one is wrong', async () => {
    const operator = await openConsole(service)
    const { status, text } = await change(operator, 'wrong horse')
    expect([status, text.includes('id="current-fault"')]).toEqual([400, true])
    expect(fieldsIn(text)).toMatchObject({ current: '', password: '' })
    expect((await signIn(operator)).status).toBe(303)
  })

  test('is guessed no more often than at a sign-in', async () => {
    const guarded = await openService(embedded, { FAILURES_PER_MINUTE: '3' })
    const operator = await openConsole(guarded)
    const guesses = ['first', 'second', 'third', 'fourth', PASSWORD]
    const statuses = []
    for (const guess of guesses) statuses.push((await change(operator, guess)).status)
    expect(statuses).toEqual([400, 400, 400, 429, 429])
    await guarded.close()
  })

  test.each(['short', 'password1234', 'x'.repeat(1_025)])('is never %j', async (password) => {
    const operator = await openConsole(service)
    const { status, text } = await change(operator, PASSWORD, password)
    expect([status, text.includes('id="password-fault"')]).toEqual([400, true])
    expect((await signIn(operator)).status).toBe(303)
  })

  test('of two changes at once one is made, and the other says so', async () => {
    const operator = await openConsole(service)
    const both = await Promise.all([
      change(operator, PASSWORD),
      change(operator, PASSWORD, 'another battery'),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 400])
  })

  test('another site cannot send the form', async () => {
    const operator = await openConsole(service)
    const cookie = operator.cookie.replace('Cookie: ', '')
    const fields = { current: PASSWORD, password: NEXT }
    const elsewhere = { cookie, 'sec-fetch-site': 'cross-site' }
    const forged = await sendForm(service, '/console/account/password', fields, elsewhere)
    expect(forged.status).toBe(403)
    expect((await signIn(operator)).status).toBe(303)
  })
})

describe('deleting the account', () => {
  const end = ({ post }: Operator, fields: Readonly<Record<string, string>>) =>
    post('/console/account/delete', fields)

  const statusWith = async ({ born }: Operator): Promise<number> =>
    (await service.call('GET', '/api/agents/me', { token: born.token })).status

  test.each([
    ['leave', 200],
    ['erase', 401],
  ])(
    'with %j for its agents, their tokens answer %d, and nobody signs in',
    async (agents, then) => {
      const [operator, stranger] = [await openConsole(service), await openConsole(service)]
      expect((await operator.get('/console/account/delete')).status).toBe(200)
      const { status, headers } = await end(operator, { agents, typed: operator.email })
      expect([status, headers.get('location')]).toEqual([303, '/console/sign-in'])
      // The browser keeps nothing of it.
      expect(headers.get('set-cookie')).toMatch(/^agent-home-session=; Max-Age=0; Path=\/;/)
      expect([await statusWith(operator), await statusWith(stranger)]).toEqual([then, 200])
      expect((await operator.get('/console')).status).toBe(303)
      expect((await signIn(operator)).status).toBe(401)
      expect((await stranger.get('/console')).status).toBe(200)
    },
  )

  test('erases more agents than a page of them has', async () => {
    const operator = await openConsole(service)
    const others = await inGroups([...Array(55).keys()], async () => {
      const { token, operatorToken } = await service.birth()
      const attached = await operator.post('/console/attach', { token: operatorToken })
      expect(attached.status).toBe(303)
      return token
    })
    expect((await end(operator, { agents: 'erase', typed: operator.email })).status).toBe(303)
    const statuses = await inGroups(others, async (token) => {
      return (await service.call('GET', '/api/agents/me', { token })).status
    })
    expect(new Set(statuses)).toEqual(new Set([401]))
  })

  test.each([
    ['nothing chosen', { agents: '' }, 'agents'],
    ['another address', { typed: 'other@example.org' }, 'typed'],
  ])('%s is refused beside its field', async (_, fields, field) => {
    const operator = await openConsole(service)
    const sent = { agents: 'erase', typed: operator.email, ...fields }
    const { status, text } = await end(operator, sent)
    expect([status, text.includes(`id="${field}-fault"`)]).toEqual([400, true])
    expect([await statusWith(operator), (await signIn(operator)).status]).toEqual([200, 303])
  })

  test('asks for the password again', async () => {
    const operator = await openConsole(service)
    service.tick(600_000)
    const { status, text } = await end(operator, { agents: 'leave', typed: operator.email })
    expect([status, text.includes('id="password-fault"')]).toEqual([400, true])
    expect((await signIn(operator)).status).toBe(303)
  })
})
