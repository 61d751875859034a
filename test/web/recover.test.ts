/** A lost password: a link from the host sets another one, once. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashLink } from '../../src/pipeline/links.ts'
import { PASSWORD } from '../accounts.ts'
import { type Answer, embedded, openService, type TestService } from '../harness.ts'
import { type Operator, openConsole, sendForm } from './operator.ts'

const MINUTE_MS = 60_000

const NEXT = 'a battery of horses'

describe('a link from the host', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { SIGN_INS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  async function linkFor({ email }: Operator): Promise<string> {
    const secret = randomBytes(32).toString('base64url')
    const expiresAt = service.now() + 30 * MINUTE_MS
    await service.store.recoverAccount(email, hashLink(secret), expiresAt)
    return secret
  }

  const open = (link: string) =>
    service.call('GET', `/console/recover?link=${link}`, { headers: { accept: 'text/html' } })

  const send = (link: string, password = NEXT) =>
    sendForm(service, '/console/recover', { link, password })

  const signIn = async ({ email }: Operator, password: string): Promise<number> =>
    (await sendForm(service, '/console/sign-in', { email, password })).status

  const cookieOf = ({ headers }: Answer): string =>
    (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

  test('sets another password, signs in with it, and ends every other session', async () => {
    const operator = await openConsole(service)
    const link = await linkFor(operator)
    for (let look = 0; look < 2; look++) expect((await open(link)).text).toContain(operator.email)
    const set = await send(link)
    expect([set.status, set.headers.get('location')]).toEqual([303, '/console'])
    const cookie = cookieOf(set)
    const mine = await service.call('GET', '/console', { headers: { cookie } })
    expect([mine.status, (await operator.get('/console')).status]).toEqual([200, 303])
    expect([await signIn(operator, PASSWORD), await signIn(operator, NEXT)]).toEqual([401, 303])
  })

  test('is void once it was used, also of two at once', async () => {
    const operator = await openConsole(service)
    const link = await linkFor(operator)
    const both = await Promise.all([send(link), send(link, 'another battery')])
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 410])
    for (const answer of [await open(link), await send(link)]) {
      expect(answer.status).toBe(410)
      expect(answer.text).toContain('Ask the owner of the host for a new link')
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
  })

  test('is void after half an hour, or once there is another', async () => {
    const operator = await openConsole(service)
    const [first, second] = [await linkFor(operator), await linkFor(operator)]
    expect([(await open(first)).status, (await open(second)).status]).toEqual([410, 200])
    service.tick(30 * MINUTE_MS)
    expect([(await open(second)).status, (await send(second)).status]).toEqual([410, 410])
    expect(await signIn(operator, PASSWORD)).toBe(303)
  })

  test('takes no password that nobody may choose, and stays as it is', async () => {
    const operator = await openConsole(service)
    const link = await linkFor(operator)
    for (const password of ['short', 'password1234', operator.email]) {
      const { status, text } = await send(link, password)
      expect(status).toBe(400)
      expect(text).toContain('id="password-fault"')
      expect(text).not.toContain(`value="${password}"`)
    }
    expect(await signIn(operator, PASSWORD)).toBe(303)
    expect((await send(link)).status).toBe(303)
  })

  test('nothing of it is stored but its hash', async () => {
    const operator = await openConsole(service)
    const link = await linkFor(operator)
    expect(await service.store.findRecovery(link, service.now())).toBeUndefined()
    expect(await service.store.findRecovery(hashLink(link), service.now())).toMatchObject({
      email: operator.email,
    })
    expect(service.logged.join()).not.toContain(link)
  })

  test('another site cannot send the form', async () => {
    const operator = await openConsole(service)
    const link = await linkFor(operator)
    const fields = { link, password: NEXT }
    const elsewhere = { 'sec-fetch-site': 'cross-site' }
    expect((await sendForm(service, '/console/recover', fields, elsewhere)).status).toBe(403)
    expect(await signIn(operator, PASSWORD)).toBe(303)
  })
})
