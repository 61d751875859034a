/** An agent's keys at the console: named ones, the operator's, and the end of all. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOSTILE = `</td><kept x="1">'&`

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, {
    CONTROLS_PER_MINUTE: '9999',
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    FAILURES_PER_MINUTE: '0',
  })
})
afterAll(() => service.close())

const keysOf = ({ agent }: Operator): string => `${agent}/keys`

const rowsIn = (page: string): string[][] =>
  insideOf(insideOf(page, 'tbody').join(), 'tr').map((row) =>
    [...row.matchAll(/<(t[dh])[^>]*>(.*?)<\/\1>/gs)].map(([, , cell = '']) => textIn(cell).trim()),
  )

const statusWith = async (token: string): Promise<number> =>
  (await service.call('GET', '/api/agents/me', { token })).status

const READING = { name: 'Nightly', access: 'read', prefix: '', expiresAt: '' }

/** Of a key that its page has shown. */
async function made(operator: Operator, fields = {}): Promise<string> {
  const { turn = '' } = fieldsIn((await operator.get(keysOf(operator))).text)
  const sent = { ...READING, turn, ...fields }
  const { status, text } = await operator.post(keysOf(operator), sent)
  expect(status).toBe(200)
  return /id="key-token"[^>]* value="(aha_\w+)"/.exec(text)?.[1] ?? ''
}

describe('named keys', () => {
  test('there is none, and the agent’s page leads there', async () => {
    const operator = await openConsole(service)
    const { status, text } = await operator.get(keysOf(operator))
    expect([status, text.includes('No named key yet.')]).toEqual([200, true])
    const { agent } = operator
    expect(linksIn((await operator.get(agent)).text)).toContain(`${agent}/keys`)
    expect(linksIn((await operator.get(`${agent}/settings`)).text)).toContain(`${agent}/erase`)
  })

  test('come first, and what is rarely wanted is folded, but where it was refused', async () => {
    const operator = await openConsole(service)
    await made(operator)
    const { text } = await operator.get(keysOf(operator))
    const places = ['<table', '>New key<', '>Rotate the', '>Replace the'].map((each) =>
      text.indexOf(each),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    const folds = (page: string) =>
      [...page.matchAll(/<details class="fold"( open)?>/g)].map(([, open]) => open !== undefined)
    expect(folds(text)).toEqual([false, false, false])
    const send = async (path: string, fields: Readonly<Record<string, string>>) =>
      folds((await operator.post(path, fields)).text)
    expect(await send(keysOf(operator), { ...READING, name: '' })).toEqual([true, false, false])
    expect(await send(`${operator.agent}/key`, { turn: '0' })).toEqual([false, true, false])
    const key = { key: 'none' }
    expect(await send(`${operator.agent}/operator-key`, key)).toEqual([false, false, true])
  })

  test('one is made, its token shown once, and bounded as it was asked for', async () => {
    const operator = await openConsole(service)
    const token = await made(operator, { prefix: 'report.' })
    expect(await statusWith(token)).toBe(200)
    expect((await write(service, token, 'report.a', 'x')).status).toBe(403)
    expect((await operator.get(keysOf(operator))).text).not.toContain(token)
  })

  test('are listed with what they may, reach, when they end and were used', async () => {
    const operator = await openConsole(service)
    const day = new Date(service.now() + 3 * 86_400_000).toISOString().slice(0, 10)
    await made(operator, { name: HOSTILE, access: 'write', prefix: 'report.', expiresAt: day })
    await made(operator)
    const { text } = await operator.get(keysOf(operator))
    expect(rowsIn(text).map((row) => row.slice(0, 5))).toEqual([
      ['Nightly', 'reads', 'every memory', 'never expires', 'not used yet'],
      [
        HOSTILE,
        'reads and writes',
        'only report.…',
        expect.stringMatching(/^expires in [23] days$/),
        'not used yet',
      ],
    ])
    expect(text).toContain(escaped(HOSTILE))
    expect(text).not.toContain('<kept')
    expect(text).toContain(`datetime="${day}T00:00:00.000Z"`)
  })

  test('an expired one says since when, and is no connected program', async () => {
    const operator = await openConsole(service)
    const expiresAt = new Date(service.now() + 60_000).toISOString()
    const body = { name: 'Nightly', access: 'read', expiresAt }
    const { operatorToken } = operator.born
    const made = await service.call('POST', '/api/agents/me/keys/named', {
      token: operatorToken,
      body,
    })
    const token = String(made.body.token)
    expect(await statusWith(token)).toBe(200)
    await write(service, operator.born.token, 'plan', 'x')
    const programs = async () => insideOf((await operator.get(operator.agent)).text, 'section')
    expect((await programs()).map(textIn).join()).toMatch(/Nightly reads/)
    service.tick(2 * 3_600_000)
    const [row] = rowsIn((await operator.get(keysOf(operator))).text)
    expect(row?.[3]).toMatch(/^expired 2 hours ago$/)
    expect((await programs()).map(textIn).join()).not.toContain('Nightly')
  })

  test('one is ended, and its token is void', async () => {
    const operator = await openConsole(service)
    const token = await made(operator)
    const page = await operator.get(keysOf(operator))
    const [form = ''] = insideOf(insideOf(page.text, 'table').join(), 'form')
    const { status, headers } = await operator.post(`${keysOf(operator)}/end`, fieldsIn(form))
    expect(status).toBe(303)
    expect(headers.get('location')).toMatch(new RegExp(`^${keysOf(operator)}\\?ended=.+`))
    expect(await statusWith(token)).toBe(401)
    expect((await operator.post(`${keysOf(operator)}/end`, fieldsIn(form))).status).toBe(404)
  })

  test.each([
    ['no name', { name: ' ' }, 'name'],
    ['no such access', { access: 'own' }, 'access'],
    ['a prefix that no key has', { prefix: '<kept>' }, 'prefix'],
    ['a day that is past', { expiresAt: '2001-01-01' }, 'expiresAt'],
    ['a day that is none', { expiresAt: '<kept>' }, 'expiresAt'],
  ])('%s is refused beside its field', async (_, fields, field) => {
    const operator = await openConsole(service)
    const sent = { ...READING, turn: '0', name: HOSTILE, ...fields }
    const { status, text } = await operator.post(keysOf(operator), sent)
    expect(status).toBe(400)
    expect(text).toContain(`id="${field}-fault"`)
    expect(text).not.toContain('<kept')
    expect(rowsIn((await operator.get(keysOf(operator))).text)).toEqual([])
  })
})

describe('the operator key', () => {
  const replace = async (operator: Operator, more = {}) => {
    const { key = '' } = fieldsIn((await operator.get(keysOf(operator))).text)
    return { key, answer: await operator.post(`${operator.agent}/operator-key`, { key, ...more }) }
  }
  const tokenIn = (page: string): string => /value="(aho_\w+)"/.exec(page)?.[1] ?? ''

  test('is replaced by one that is shown; the old one is void, the agent stays here', async () => {
    const operator = await openConsole(service)
    const { answer, key } = await replace(operator, { assent: 'yes' })
    const token = tokenIn(answer.text)
    const { born, agent } = operator
    expect([await statusWith(token), await statusWith(born.operatorToken)]).toEqual([200, 401])
    expect(await statusWith(born.token)).toBe(200)
    expect((await operator.get(agent)).status).toBe(200)
    const again = await operator.post(`${agent}/operator-key`, { key, assent: 'yes' })
    expect(tokenIn(again.text)).toBe(token)
    expect((await operator.get(keysOf(operator))).text).not.toContain(token)
  })

  test('each page has a key of its own for it', async () => {
    const operator = await openConsole(service)
    const keys = [await operator.get(keysOf(operator)), await operator.get(keysOf(operator))].map(
      ({ text }) => fieldsIn(text).key,
    )
    expect(new Set(keys).size).toBe(2)
    for (const key of keys) expect(key).toMatch(/^[a-f0-9]{64}$/)
  })

  test('stays where what it does was not understood', async () => {
    const operator = await openConsole(service)
    const { answer, key } = await replace(operator)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('id="assent-fault"')
    expect(fieldsIn(answer.text).key).toBe(key)
    expect(await statusWith(operator.born.operatorToken)).toBe(200)
  })
})

describe('erasing the agent', () => {
  const erase = (operator: Operator, typed: string) =>
    operator.post(`${operator.agent}/erase`, { typed })

  test('says what goes and that nothing brings it back', async () => {
    const operator = await openConsole(service, { name: 'Atlas' })
    await write(service, operator.born.token, 'plan', 'x')
    const { status, text } = await operator.get(`${operator.agent}/erase`)
    expect(status).toBe(200)
    expect(textIn(text)).toContain('This cannot be undone. The profile, 1 memory with every')
    expect(linksIn(text)).toContain(`${operator.agent}/export`)
  })

  test.each(['Atlas', ' Atlas  II\n', 'id'])('%j typed: everything is gone', async (typed) => {
    const name = typed === 'id' ? 'Atlas' : typed
    const operator = await openConsole(service, { name })
    const { agentId, token, operatorToken } = operator.born
    const { status, headers } = await erase(operator, typed === 'id' ? agentId : name.trim())
    expect([status, headers.get('location')]).toEqual([303, '/console'])
    expect([await statusWith(token), await statusWith(operatorToken)]).toEqual([401, 401])
    expect((await operator.get(operator.agent)).status).toBe(404)
    expect((await operator.get('/console')).text).toContain('No agent is in this account yet.')
  })

  test.each(['', ' ', 'atlas', 'Atlas2', HOSTILE])('%j typed: nothing is gone', async (typed) => {
    const operator = await openConsole(service, { name: 'Atlas' })
    const { status, text } = await erase(operator, typed)
    expect(status).toBe(400)
    expect(text).toContain('id="typed-fault"')
    expect(text).not.toContain('<kept')
    expect(await statusWith(operator.born.token)).toBe(200)
  })

  test('a name of blanks alone is not matched by nothing', async () => {
    const operator = await openConsole(service, { name: '  ' })
    for (const typed of ['', ' ']) expect((await erase(operator, typed)).status).toBe(400)
    expect(await statusWith(operator.born.token)).toBe(200)
  })
})
