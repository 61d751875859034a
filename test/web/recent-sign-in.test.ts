/** Before what cannot be undone the password is asked for again, and a token is shown once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session } from '../../src/store/port/sessions.ts'
import { isConfirmed } from '../../src/web/console/account/recent-sign-in.ts'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { fieldsIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const MINUTE_MS = 60_000

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { CONTROLS_PER_MINUTE: '9999', FAILURES_PER_MINUTE: '0' })
})
afterAll(() => service.close())

const statusWith = async (token: string): Promise<number> =>
  (await service.call('GET', '/api/agents/me', { token })).status

const turnOf = async ({ agent, get }: Operator): Promise<string> =>
  fieldsIn((await get(`${agent}/keys`)).text).turn ?? ''

const rotate = async (operator: Operator, more = {}) =>
  operator.post(`${operator.agent}/key`, {
    understood: 'yes',
    turn: await turnOf(operator),
    ...more,
  })

const tokenIn = (page: string): string => /value="(aha_\w+)"/.exec(page)?.[1] ?? ''

/** The password was given ten minutes ago. */
async function later(): Promise<Operator> {
  const operator = await openConsole(service)
  service.tick(10 * MINUTE_MS)
  return operator
}

describe('a second look', () => {
  test('is asked for as soon as ten minutes are over', () => {
    const session = { confirmedAt: 1 } as Session
    const isConfirmedAfter = (ms: number) => isConfirmed(session, 1 + ms)
    expect(isConfirmedAfter(10 * MINUTE_MS - 1)).toBe(true)
    expect(isConfirmedAfter(10 * MINUTE_MS)).toBe(false)
  })

  test('is not asked for ten minutes after the password was given', async () => {
    const operator = await openConsole(service)
    service.tick(9 * MINUTE_MS)
    expect((await operator.get(`${operator.agent}/keys`)).text).not.toContain('Your password')
    expect((await rotate(operator)).status).toBe(200)
  })

  test('is asked for by each form that needs it', async () => {
    const { agent, get } = await later()
    expect((await get(`${agent}/keys`)).text.match(/Your password/g)).toHaveLength(3)
    const paths = [`${agent}/erase`, `${agent}/connect/http`, '/console/attach', '/console/birth']
    for (const path of paths) {
      expect((await get(path)).text).toContain('Your password')
    }
  })

  test.each([
    ['none', {}],
    ['an empty one', { password: '' }],
    ['a wrong one', { password: 'wrong horse' }],
    ['another form’s', { operatorPassword: PASSWORD }],
  ])('with %s nothing happens', async (_, fields) => {
    const operator = await later()
    const { status, text } = await rotate(operator, fields)
    expect([status, text.includes('id="password-fault"')]).toEqual([400, true])
    expect(await statusWith(operator.born.token)).toBe(200)
  })

  test('is remembered for ten minutes, in this session alone', async () => {
    const operator = await later()
    expect((await rotate(operator, { password: PASSWORD })).status).toBe(200)
    service.tick(9 * MINUTE_MS)
    expect((await rotate(operator)).status).toBe(200)
    service.tick(MINUTE_MS)
    expect((await rotate(operator)).status).toBe(400)
  })

  test('stands before erasing and attaching too', async () => {
    const operator = await later()
    const orphan = await service.birth()
    const attached = await operator.post('/console/attach', { token: orphan.operatorToken })
    expect([attached.status, attached.text.includes(orphan.agentId)]).toEqual([400, false])
    const { agentId } = operator.born
    expect((await operator.post(`${operator.agent}/erase`, { typed: agentId })).status).toBe(400)
    const fields = { typed: agentId, password: PASSWORD }
    expect((await operator.post(`${operator.agent}/erase`, fields)).status).toBe(303)
    expect(await statusWith(operator.born.operatorToken)).toBe(401)
  })

  test('guesses are counted as failed sign-ins', async () => {
    const guarded = await openService(embedded, { FAILURES_PER_MINUTE: '2' })
    const operator = await openConsole(guarded)
    guarded.tick(10 * MINUTE_MS)
    const statuses = []
    for (const password of ['one', 'two', 'three', PASSWORD]) {
      statuses.push((await rotate(operator, { password })).status)
    }
    expect(statuses).toEqual([400, 400, 429, 429])
    await guarded.close()
  })
})

describe('a form whose answer shows a token', () => {
  test('sent again by a reload, does nothing, shows nothing, and can be sent anew', async () => {
    const operator = await openConsole(service)
    const sent = { understood: 'yes', turn: await turnOf(operator) }
    const first = await rotate(operator, sent)
    const again = await rotate(operator, sent)
    expect([first.status, again.status]).toEqual([200, 409])
    expect(again.text).toContain('Nothing was changed this time.')
    const token = tokenIn(first.text)
    expect([await statusWith(token), tokenIn(again.text)]).toEqual([200, ''])
    expect((await rotate(operator, { turn: fieldsIn(again.text).turn })).status).toBe(200)
  })

  test('two at once: one does it', async () => {
    const operator = await openConsole(service)
    const turn = await turnOf(operator)
    const both = await Promise.all([rotate(operator, { turn }), rotate(operator, { turn })])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  test('of a named key makes one', async () => {
    const operator = await openConsole(service)
    const fields = { name: 'CI', access: 'read', turn: await turnOf(operator) }
    const send = async () => (await operator.post(`${operator.agent}/keys`, fields)).status
    expect([await send(), await send()]).toEqual([200, 409])
    const { text } = await operator.get(`${operator.agent}/keys`)
    expect(text.match(/dir="auto">CI</g)).toHaveLength(1)
  })

  test.each(['', '-1', '1e999', 'x', '99'])('is not taken for its turn by %j', async (turn) => {
    const operator = await openConsole(service)
    expect((await rotate(operator, { turn })).status).toBe(409)
    expect(await statusWith(operator.born.token)).toBe(200)
  })

  test('is told to keep its address out of a reload', async () => {
    const operator = await openConsole(service)
    const { text } = await rotate(operator)
    expect(text).toContain(`href="${operator.agent}/keys" data-shown-once`)
    expect(text).toMatch(/src="\/assets\/[^"]*\/shown\.ts"/)
  })
})
