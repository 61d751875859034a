/** What happened in a home, at the console. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { escaped, insideOf, linksIn, textIn } from './markup.ts'
import { openConsole } from './operator.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '9999', EVENTS_PER_AGENT: '300' })
})
afterAll(() => service.close())

const rowsIn = (page: string): string[][] =>
  insideOf(insideOf(page, 'tbody').join(), 'tr').map((row) =>
    [...row.matchAll(/<(t[dh])[^>]*>(.*?)<\/\1>/gs)].map(([, , cell = '']) => textIn(cell)),
  )

test('is told newest first: who did what, through what, to which memory', async () => {
  const operator = await openConsole(service)
  const { agent, born, email } = operator
  await write(service, born.token, 'plan', 'one')
  service.tick(3_600_000)
  await operator.post(`${agent}/memory/delete`, { key: 'plan', expectedVersion: '1' })
  await operator.post(`${agent}/status`, { status: 'paused' })
  const person = `The operator ${email}, through the console`
  const { status, text } = await operator.get(`${agent}/log`)
  expect(status).toBe(200)
  expect(rowsIn(text)).toEqual([
    ['4', 'just now', person, 'paused the agent', '', ''],
    ['3', 'just now', person, 'deleted', 'plan', 'version 2'],
    ['2', '1 hour ago', 'The agent, through the API', 'wrote', 'plan', 'version 1'],
    ['1', '1 hour ago', person, 'signed in', '', ''],
  ])
  expect(linksIn(insideOf(text, 'tbody').join())).toContain(`${agent}/memory?key=plan`)
  expect(linksIn((await operator.get(agent)).text)).toContain(`${agent}/log`)
})

test('a rename names both keys, and a key’s name is text', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  const name = `</td><kept x="1">'&`
  const made = await service.call('POST', '/api/agents/me/keys/named', {
    token: born.operatorToken,
    body: { name, access: 'write' },
  })
  await write(service, String(made.body.token), 'old', 'x')
  await service.call('POST', '/api/agents/me/batch', {
    token: String(made.body.token),
    body: { operations: [{ rename: { from: 'old', to: 'new', expectedVersion: 1 } }] },
  })
  const { text } = await operator.get(`${agent}/log`)
  expect(rowsIn(text)[0]?.slice(3)).toEqual(['renamed', 'old to new', 'version 2'])
  expect(text).toContain(`with the key “<bdi>${escaped(name)}</bdi>”`)
  expect(text).not.toContain('<kept')
  const ofKey = rowsIn(text).find((row) => row.includes('made a named key'))
  expect(ofKey?.slice(4)).toEqual([`“${name}”`, ''])
  expect(text).toContain(`<td class="words">“<bdi>${escaped(name)}</bdi>”</td>`)
})

test('a hundred are on a page, and the last page ends with the oldest that is kept', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  for (let at = 0; at < 370; at++) await write(service, born.token, 'k', `${at}`, at)
  const found = await service.call('GET', '/api/agents/me/events?limit=1000', {
    token: born.operatorToken,
  })
  const kept = (found.body.events as { id: number }[]).map(({ id }) => `${id}`)
  const told: string[] = []
  let path: string | undefined = `${agent}/log`
  for (let pages = 0; path && pages < 10; pages++) {
    const { text } = await operator.get(path)
    const rows = rowsIn(text)
    expect(rows.length).toBeLessThanOrEqual(100)
    told.push(...rows.map(([id = '']) => id))
    const next = linksIn(text).find((link) => link.startsWith('?before='))
    path = next && `${agent}/log${next}`
  }
  expect(told).toEqual(kept.toReversed())
  expect(kept.length).toBeLessThan(371)
})

test.each(['0', 'x', '-1', ''])('there is no page before %j', async (before) => {
  const operator = await openConsole(service)
  expect((await operator.get(`${operator.agent}/log?before=${before}`)).status).toBe(400)
})

test('before the first nothing is told', async () => {
  const operator = await openConsole(service)
  const { status, text } = await operator.get(`${operator.agent}/log?before=1`)
  expect([status, rowsIn(text)]).toEqual([200, []])
})
