/** What an operator changes about an agent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { escaped, fieldsIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOSTILE = `</textarea><kept x="1">'&`

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { CONTROLS_PER_MINUTE: '9999' })
})
afterAll(() => service.close())

const settingsOf = ({ agent }: Operator): string => `${agent}/settings`

const profileOf = async ({ born }: Operator) =>
  (await service.call('GET', '/api/agents/me', { token: born.token })).body.profile

describe('the profile', () => {
  test('stands in its form as it is, and is saved', async () => {
    const operator = await openConsole(service, { name: 'Atlas' })
    const page = await operator.get(settingsOf(operator))
    const fields = fieldsIn(page.text)
    expect(fields).toMatchObject({ name: 'Atlas', symbol: 'zerno' })
    const sent = { ...fields, name: ' Mira ', purpose: ' one\r\ntwo ', symbol: 'mriya' }
    const { status, headers } = await operator.post(settingsOf(operator), sent)
    expect([status, headers.get('location')]).toEqual([303, settingsOf(operator)])
    const saved = { name: 'Mira', purpose: 'one\ntwo', symbol: 'mriya' }
    expect(await profileOf(operator)).toMatchObject(saved)
  })

  test.each([
    ['no name', { name: ' ' }, 'name'],
    ['a name that is too long', { name: 'x'.repeat(81) }, 'name'],
    ['no purpose', { purpose: '' }, 'purpose'],
    ['no such symbol', { symbol: '<kept>' }, 'symbol'],
  ])('%s is refused beside its field, with what was typed', async (_, fields, field) => {
    const operator = await openConsole(service, { name: 'Atlas' })
    const sent = { name: 'Other', purpose: HOSTILE, symbol: 'zerno', ...fields }
    const { status, text } = await operator.post(settingsOf(operator), sent)
    expect(status).toBe(400)
    expect(text).toContain(`id="${field}-fault"`)
    expect(text).not.toContain('<kept')
    if (sent.purpose) expect(text).toContain(escaped(HOSTILE))
    expect(await profileOf(operator)).toMatchObject({ name: 'Atlas' })
  })
})

describe('leaving the agent', () => {
  const leave = ({ agent, post }: Operator, fields = {}) => post(`${agent}/leave`, fields)

  test('is asked for, and then it stays without an account', async () => {
    const operator = await openConsole(service, { name: 'Atlas' })
    expect((await operator.get(settingsOf(operator))).text).toContain(`${operator.agent}/leave`)
    expect((await operator.get(`${operator.agent}/leave`)).status).toBe(200)
    const { status, headers } = await leave(operator, { understood: 'yes' })
    expect([status, headers.get('location')]).toEqual([303, '/console'])
    expect((await operator.get(operator.agent)).status).toBe(404)
    expect(await profileOf(operator)).toMatchObject({ name: 'Atlas', status: 'active' })
    const token = operator.born.operatorToken
    expect((await operator.post('/console/attach', { token })).status).toBe(303)
  })

  test('does not happen where what it means was not understood', async () => {
    const operator = await openConsole(service)
    const { status, text } = await leave(operator)
    expect([status, text.includes('id="understood-fault"')]).toEqual([400, true])
    expect((await operator.get(operator.agent)).status).toBe(200)
  })
})

test('the export that Settings links to has the history, as the API gives it', async () => {
  const operator = await openConsole(service, { name: 'Atlas' })
  const { token } = operator.born
  await write(service, token, 'plan', 'Step 1')
  const { text } = await operator.get(`${operator.agent}/export`)
  const path = '/api/agents/me/export?history=true'
  const { body } = await service.call('GET', path, { token })
  const given: Record<string, unknown> = JSON.parse(text)
  expect(Object.keys(given)).toEqual(Object.keys(body))
  expect(given.history).toEqual(body.history)
  expect(given.events).toMatchObject([{ type: 'write', key: 'plan' }])
})
