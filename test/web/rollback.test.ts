/** Changes are taken back at the console, after it was seen what that changes. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService, write } from '../harness.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { openConsole } from './operator.ts'

const HOSTILE = `</pre><kept x="1">'&amp;`

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' })
})
afterAll(() => service.close())

/** An agent whose memories a key broke, created and deleted; others changed some meanwhile. */
async function open() {
  const operator = await openConsole(service)
  const { token, operatorToken } = operator.born
  for (const key of ['a.one', 'a.two', 'b']) await write(service, token, key, `${key}\n${HOSTILE}`)
  const made = await service.call('POST', '/api/agents/me/keys/named', {
    token: operatorToken,
    body: { name: HOSTILE, access: 'write' },
  })
  const { id } = made.body.key as { id: string }
  const named = String(made.body.token)
  service.tick(60_000)
  const since = new Date(service.now()).toISOString()
  await write(service, named, 'a.one', 'nonsense', 1)
  await service.call('DELETE', `${memoryPath}?key=a.two&expectedVersion=1`, { token: named })
  await write(service, named, 'a.new', 'nonsense')
  await write(service, token, 'b', 'better', 1)
  const texts = async () =>
    Promise.all(
      ['a.one', 'a.two', 'a.new', 'b'].map(
        async (key) => ((await operator.stored(key)) as { text: string } | undefined)?.text,
      ),
    )
  const page = (query: string) => operator.get(`${operator.agent}/rollback?${query}`)
  return { ...operator, id, since, texts, page }
}

const formIn = (page: string) =>
  fieldsIn(insideOf(page, 'form').find((each) => each.includes('name="to"')) ?? '')

const listIn = (page: string): string[] =>
  insideOf(/<ul class="differences">.*<\/ul>/s.exec(page)?.[0] ?? '', 'summary').map(textIn)

const THEN = [`a.one\n${HOSTILE}`, `a.two\n${HOSTILE}`, undefined] as const

test('what one author changed is listed with its differences, then taken back, and told', async () => {
  const { id, since, texts, page, post, get, agent } = await open()
  const before = await texts()
  const { status, text } = await page(`by=${id}&since=${since}`)
  expect(status).toBe(200)
  expect(listIn(text)).toEqual([
    'a.new will be deleted: it did not exist then',
    'a.one will get version 1 again',
    'a.two will get version 1 again',
  ])
  expect(textIn(text)).toContain('3 memories would change: 2 restored, 1 deleted.')
  expect(insideOf(text, 'del').map(textIn).join()).toContain('nonsense')
  expect(insideOf(text, 'ins').map(textIn).join()).toContain(HOSTILE)
  expect(text).toContain(escaped(HOSTILE))
  expect(text).not.toContain('<kept')
  expect(await texts()).toEqual(before)
  const done = await post(`${agent}/rollback`, formIn(text))
  expect([done.status, done.headers.get('location')]).toEqual([
    303,
    `${agent}/activity?rolled=2-1-0`,
  ])
  expect(await texts()).toEqual([...THEN, 'better'])
  const after = (await get(`${agent}/activity?rolled=2-1-0`)).text
  expect(textIn(after)).toContain('Took back 3 changes: 2 memories restored, 1 deleted.')
  expect(textIn(after)).toMatch(/Took back 3 changes, to event \d+/)
  const [undo = ''] = linksIn(after).filter((link) => link.includes('/rollback?to='))
  const again = (await get(undo)).text
  await post(`${agent}/rollback`, formIn(again))
  expect(await texts()).toEqual(before)
})

test('of everybody under a prefix, or of all, and what is not kept is named', async () => {
  const { since, page, texts, post, agent } = await open()
  const { text } = await page(`prefix=a.o&since=${since}`)
  expect(listIn(text)).toEqual(['a.one will get version 1 again'])
  await post(`${agent}/rollback`, formIn(text))
  expect((await texts())[0]).toBe(THEN[0])
  await post(`${agent}/memory/erase`, { key: 'b', versions: 'history', typed: 'b' })
  const all = await page(`since=${since}`)
  expect(listIn(all.text)).toHaveLength(2)
  expect(textIn(all.text)).toContain(
    '1 memory would stay unchanged, because no earlier version is kept: b.',
  )
})

test('one run is told apart in the history and the activity, and taken back alone', async () => {
  const operator = await openConsole(service)
  const { born, agent } = operator
  const as = (run: string) => (key: string, expectedVersion: number) =>
    service.call('POST', memoryPath, {
      token: born.token,
      headers: { 'agent-run': run },
      body: { key, text: `by ${run}`, expectedVersion },
    })
  await as('one')('plan', 0)
  await as(HOSTILE)('plan', 1)
  await as(HOSTILE)('second', 0)
  const history = (await operator.get(`${agent}/memory?key=plan`)).text
  expect(textIn(history)).toContain('The agent, run “one”')
  expect(textIn(history)).toContain(`The agent, run “${HOSTILE}”`)
  expect(history).not.toContain('<kept')
  const compared = (await operator.get(`${agent}/memory/compare?key=plan&from=1&to=2`)).text
  const [back = ''] = linksIn(compared).filter((link) => link.includes('/rollback?'))
  const shown = (await operator.get(back)).text
  expect(listIn(shown)).toEqual([
    'plan will get version 1 again',
    'second will be deleted: it did not exist then',
  ])
  expect(formIn(shown)).toMatchObject({ by: 'agent', run: HOSTILE })
  const activity = async (run: string) =>
    textIn((await operator.get(`${agent}/activity?run=${encodeURIComponent(run)}`)).text)
  expect(await activity('one')).toContain('run “one”')
  expect(await activity('one')).not.toContain('second')
  expect(await activity('none')).toContain('Nothing like it happened.')
  await operator.post(`${agent}/rollback`, formIn(shown))
  expect(await operator.stored('plan')).toMatchObject({ text: 'by one' })
  expect(await operator.stored('second')).toBeUndefined()
  expect((await operator.get(`${agent}/activity?run=${'x'.repeat(81)}`)).status).toBe(400)
})

test('a long list has pages', async () => {
  const { born, page, since } = await open()
  for (let n = 10; n < 60; n++) await write(service, born.token, `long.${n}`, 'x')
  await write(service, born.operatorToken, 'long.99', 'of another author')
  const { text } = await page(`by=agent&prefix=long&since=${since}`)
  expect(listIn(text)).toHaveLength(25)
  const next = linksIn(text).find((link) => link.includes('after=')) ?? ''
  expect(textIn(text)).toContain('25 more')
  const { text: rest } = await page(next.slice(1))
  expect(listIn(rest)[0]).toContain('long.35')
  expect(listIn(rest)).toHaveLength(25)
  expect(formIn(rest)).toEqual(formIn(text))
  expect(linksIn(rest).join()).not.toContain('after=')
})

test('texts beyond the bytes of a page are left out, and their memories are still named', async () => {
  const { born, page, since } = await open()
  for (let n = 0; n < 9; n++) await write(service, born.token, `large.${n}`, 'x'.repeat(16_000))
  const { text } = await page(`prefix=large&since=${since}`)
  expect(listIn(text)).toHaveLength(8)
  expect(textIn(text)).toContain('large.8 will be deleted')
})

test('where nothing happened there is nothing to press', async () => {
  const { page, post, agent } = await open()
  service.tick(1_000)
  const { status, text } = await page(`since=${new Date(service.now()).toISOString()}`)
  expect([status, text.includes('There is nothing to take back.')]).toEqual([200, true])
  expect(text).not.toContain('<button>Take back')
  expect((await page('to=999')).status).toBe(404)
  expect((await page('by=nobody')).status).toBe(400)
  expect((await post(`${agent}/rollback`, { to: 'x' })).status).toBe(400)
  expect((await post(`${agent}/rollback`, { to: '999' })).status).toBe(404)
})
