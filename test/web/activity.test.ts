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
  await operator.post(`${agent}/memories`, { 'memory.plan': '1', do: 'delete' })
  await operator.post(`${agent}/status`, { status: 'paused' })
  const person = `The operator ${email}, on these pages`
  const { status, text } = await operator.get(`${agent}/activity`)
  expect(status).toBe(200)
  expect(rowsIn(text)).toEqual([
    ['Paused the agent', person, '', 'just now'],
    ['Deleted plan', person, 'version 2', 'just now'],
    ['Wrote plan', 'The agent', 'version 1', '1 hour ago'],
    ['Signed in', person, '', '1 hour ago'],
  ])
  expect(linksIn(insideOf(text, 'tbody').join())).toContain(`${agent}/memory?key=plan`)
  expect(linksIn((await operator.get(agent)).text)).toContain(`${agent}/activity`)
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
  const { text } = await operator.get(`${agent}/activity`)
  expect(rowsIn(text)[0]?.[0]).toBe('Renamed old to new')
  expect(text).toContain(`with the key “<bdi>${escaped(name)}</bdi>”`)
  expect(text).not.toContain('<kept')
  const ofKey = rowsIn(text).find((row) => row[0]?.startsWith('Created'))
  expect(ofKey?.[0]).toBe(`Created the key “${name}”`)
  expect(text).toContain(`“<bdi>${escaped(name)}</bdi>”</td>`)
})

test('fifty are on a page, and the last page ends with the oldest that is kept', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  for (let at = 0; at < 370; at++) await write(service, born.token, 'k', `${at}`, at)
  const found = await service.call('GET', '/api/agents/me/events?limit=1000', {
    token: born.operatorToken,
  })
  const kept = (found.body.events as { version?: number }[]).map(({ version }) => version)
  const told: (string | undefined)[] = []
  let path: string | undefined = `${agent}/activity`
  for (let pages = 0; path && pages < 10; pages++) {
    const { text } = await operator.get(path)
    const rows = rowsIn(text)
    expect(rows.length).toBeLessThanOrEqual(50)
    told.push(...rows.map((row) => row[2]))
    const next = linksIn(text).find((link) => link.startsWith('?before='))
    path = next && `${agent}/activity${next}`
  }
  const versions = kept.map((version) => (version === undefined ? '' : `version ${version}`))
  expect(told).toEqual(versions.toReversed())
  expect(kept.length).toBeLessThan(371)
})

test.each(['0', 'x', '-1', ''])('there is no page before %j', async (before) => {
  const operator = await openConsole(service)
  expect((await operator.get(`${operator.agent}/activity?before=${before}`)).status).toBe(400)
})

test('before the first nothing is told', async () => {
  const operator = await openConsole(service)
  const { status, text } = await operator.get(`${operator.agent}/activity?before=1`)
  expect([status, rowsIn(text)]).toEqual([200, []])
})
