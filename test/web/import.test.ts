/** An export comes back at the console: what it would do, what it did, or where it is wrong. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { CONTROLS_PER_MINUTE: '0' })
})
afterAll(() => service.close())

const AT = '2020-11-21T10:00:00.000Z'

const memory = (key: string, text = 'a text') => ({
  ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key, text, metadata: {}, version: 1 },
  ...{ createdAt: AT, updatedAt: AT },
})

const file = (memories: readonly object[], more: object = {}): string =>
  JSON.stringify({
    ...{ format: 'service-home-v1', agent: {}, exportedAt: AT },
    ...{ memoryCount: memories.length, memories, ...more },
  })

const send = async (
  { agent, cookie }: Operator,
  body: string,
  query = '',
  more: Readonly<Record<string, string>> = {},
) => {
  const answer = await service.call('POST', `${agent}/import${query}`, {
    body,
    headers: {
      ...{ accept: 'text/html', 'content-type': 'application/json' },
      ...{ cookie: cookie.replace('Cookie: ', ''), ...more },
    },
  })
  const [, shown = answer.text] = /<div id="outcome"[^>]*>(.*?)<form/s.exec(answer.text) ?? []
  return {
    status: answer.status,
    shown: textIn(shown.replaceAll(/<\/(p|li)>/g, ' '))
      .replace(/\s+/g, ' ')
      .trim(),
  }
}

test('what it would do is told, and nothing is changed', async () => {
  const operator = await openConsole(service)
  const told = await send(operator, file([memory('a'), memory('b')]), '?dryRun=true')
  const words = 'It would import: 2 created, 0 updated, 0 unchanged. Nothing has been changed yet.'
  expect(told).toEqual({ status: 200, shown: words })
  expect(await operator.stored('a')).toBeUndefined()
})

test('what it did is told, by who did it', async () => {
  const operator = await openConsole(service)
  const told = await send(operator, file([memory('a'), memory('b', 'other')]))
  const words = 'Imported: 2 created, 0 updated, 0 unchanged.'
  expect(told).toEqual({ status: 200, shown: words })
  expect(await operator.stored('b')).toMatchObject({ text: 'other' })
  const { body } = await service.call('GET', '/api/agents/me/events', {
    token: operator.born.token,
  })
  expect(body.events).toContainEqual(
    expect.objectContaining({
      type: 'import',
      by: { as: 'operator', via: 'console', account: operator.email },
    }),
  )
})

test('where keys have memories: they are named, left, or replaced', async () => {
  const operator = await openConsole(service)
  await write(service, operator.born.token, 'plan', 'mine')
  const sent = file([memory('new'), memory('plan')])
  const refused = await send(operator, sent)
  expect(refused.status).toBe(409)
  expect(refused.shown).toMatch(
    /^Nothing was imported\. Choose below .* These keys already had a memory: plan$/,
  )
  const left = await send(operator, sent, '?onConflict=skip&dryRun=true')
  expect(left.shown).toContain('It would import: 1 created, 0 updated, 1 unchanged.')
  const replaced = await send(operator, sent, '?onConflict=replace')
  expect(replaced.shown).toBe(
    'Imported: 1 created, 1 updated, 0 unchanged. These keys already had a memory: plan',
  )
  expect(await operator.stored('plan')).toMatchObject({ text: 'a text', version: 2 })
})

test('history that is left out is told', async () => {
  const operator = await openConsole(service)
  await write(service, operator.born.token, 'plan', 'mine')
  const { text, metadata, ...facts } = memory('plan')
  const history = [
    { ...facts, operation: 'write', by: null, text, metadata },
    { ...facts, version: 2, operation: 'write', by: null },
  ]
  const sent = file([{ ...memory('plan'), version: 2 }], { history })
  const { shown } = await send(operator, sent, '?onConflict=replace')
  expect(shown).toContain('Earlier versions left out: 1. If a key is or was in use here')
})

test('of a hundred keys and more it tells the first hundred, and that there may be more', async () => {
  const operator = await openConsole(service)
  const keys = Array.from({ length: 101 }, (_, n) => memory(`k${1_000 + n}`))
  await send(operator, file(keys))
  const { shown } = await send(operator, file(keys), '?onConflict=replace')
  expect(shown).toContain(
    'Imported: 101 created or updated, at least 100 of them updated, 0 unchanged.',
  )
  expect(shown).toContain('These keys already had a memory, the first 100 of them: k1000 ')
  expect(shown).not.toContain('k1100')
})

test('what is wrong is told with its place, in the words that programs get', async () => {
  const operator = await openConsole(service)
  const sent = file([memory('a', ''), memory('<b>')], { memoryCount: 9 })
  const { status, shown } = await send(operator, sent)
  const { body } = await service.call('POST', '/api/agents/me/import', {
    token: operator.born.operatorToken,
    body: sent,
  })
  const { detail, errors } = body as {
    detail: string
    errors: { pointer: string; message: string }[]
  }
  expect(errors.map(({ pointer }) => pointer)).toEqual([
    '/memories/0/text',
    '/memories/1/key',
    '/memoryCount',
  ])
  const told = errors.map(({ pointer, message }) => `${pointer} ${message}`)
  expect({ status, shown }).toEqual({ status: 400, shown: [detail, ...told].join(' ') })
  expect(await operator.stored('a')).toBeUndefined()
})

test.each([
  ['no export', '[]', 'What is sent must be an object.'],
  ['none at all', '', 'What is sent ends at byte 0, in the middle of its JSON.'],
  [
    'one that breaks off',
    file([memory('a')]).slice(0, -9),
    'What is at "/memories/0" ends at byte 275, in the middle of its JSON.',
  ],
])('%s is refused on the page', async (_, sent, shown) => {
  const operator = await openConsole(service)
  expect(await send(operator, sent)).toEqual({ status: 400, shown })
})

test('another account’s agent is not there, and another site sends nothing', async () => {
  const [operator, stranger] = [await openConsole(service), await openConsole(service)]
  const sent = file([memory('a')])
  expect((await send({ ...stranger, agent: operator.agent }, sent)).status).toBe(404)
  const forged = await send(operator, sent, '', { 'sec-fetch-site': 'cross-site' })
  expect(forged.status).toBe(403)
  expect(await operator.stored('a')).toBeUndefined()
})

test('the page says what to do without a script', async () => {
  const operator = await openConsole(service)
  const { status, text } = await operator.get(`${operator.agent}/import`)
  expect([status, textIn(text).includes('agent-home import FILE')]).toEqual([200, true])
  expect((await operator.get(`${operator.agent}/settings`)).text).toContain(
    `href="${operator.agent}/import"`,
  )
})
