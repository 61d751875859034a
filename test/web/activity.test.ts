/** What happened in a home, at the console. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorName } from '../../src/web/console/author.ts'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { escaped, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '9999', EVENTS_PER_AGENT: '300' })
})
afterAll(() => service.close())

const ROW =
  /<li>(?:<span class="what">|<details class="what"[^>]*><summary>)((?:(?!<li>).)*?)<\/(?:span|summary)>(?:\s*<ol class="run">.*?<\/ol>.*?<\/details>)?\n<span class="dim"><time[^>]*>(.*?)<\/time><\/span>\n<span class="by dim">(.*?)<\/span><\/li>/gs

/** What, when and by whom. */
const rowsIn = (page: string): string[][] =>
  [...page.matchAll(ROW)].map(([, ...cells]) => cells.map((cell) => textIn(cell)))

const daysIn = (page: string): string[] => insideOf(insideOf(page, 'main').join(), 'h2').map(textIn)

const versionsIn = (page: string): number[] =>
  [...page.matchAll(/version (\d+)<\/span>/g)].map(([, version]) => Number(version))

test('is told newest first: who did what, through what, to which memory', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  await write(service, born.token, 'plan', 'one')
  service.tick(3_600_000)
  await operator.post(`${agent}/memories`, { 'memory.plan': '1', do: 'delete' })
  await operator.post(`${agent}/status`, { status: 'paused' })
  const { status, text } = await operator.get(`${agent}/activity`)
  expect(status).toBe(200)
  const at = expect.stringMatching(/^\d\d:\d\d UTC$/)
  expect(rowsIn(text)).toEqual([
    ['Paused the agent', at, 'You'],
    ['Deleted plan version 2', at, 'You'],
    ['Wrote plan version 1', at, 'The agent'],
  ])
  expect(linksIn(text)).toContain(`${agent}/memory?key=plan`)
  expect(linksIn(text)).toContain(`${agent}/memory/compare?key=plan&to=1`)
  expect(linksIn(text)).toContain(`${agent}/activity?by=operator`)
  expect(linksIn((await operator.get(agent)).text)).toContain(`${agent}/activity`)
})

test('an author is named as whoever reads it knows them', () => {
  const names = (
    [
      { as: 'operator', via: 'console', account: 'me@example.org' },
      { as: 'operator', via: 'console', account: 'you@example.org' },
      { as: 'operator', via: 'api' },
      { as: 'operator', via: 'host' },
      { as: 'agent', via: 'api' },
      { as: 'agent', via: 'mcp', key: { id: 'x', name: 'importer' } },
      undefined,
    ] as const
  ).map((by) => authorName(by, 'me@example.org'))
  expect(names).toEqual([
    'You',
    'you@example.org',
    'The operator token',
    'A command on the host',
    'The agent',
    'The key “importer”, through MCP',
    'Not known',
  ])
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
  expect(rowsIn(text)[0]?.[0]).toBe('Renamed old to new version 2')
  expect(text).toContain(`<bdi>The key “${escaped(name)}”</bdi>`)
  expect(text).not.toContain('<kept')
  const ofKey = rowsIn(text).find((row) => row[0]?.startsWith('Created'))
  expect(ofKey?.[0]).toBe(`Created the key “${name}”`)
  expect(text).toContain(`“<bdi>${escaped(name)}</bdi>”</span>`)
})

test('pages of few rows lead to the oldest event that is kept', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  // In turn, so that no two are alike.
  for (let at = 0; at < 370; at++) {
    await write(service, at % 2 === 0 ? born.token : born.operatorToken, 'k', `${at}`, at)
  }
  const found = await service.call('GET', '/api/agents/me/events?limit=1000', {
    token: born.operatorToken,
  })
  const kept = (found.body.events as { version?: number }[]).map(({ version }) => version)
  const told: number[] = []
  const sizes: number[] = []
  let path: string | undefined = `${agent}/activity`
  for (let pages = 0; path && pages < 20; pages++) {
    const { text } = await operator.get(path)
    const rows = rowsIn(text)
    sizes.push(rows.length)
    told.push(...versionsIn(text))
    const next = linksIn(text).find((link) => link.startsWith('?before='))
    path = next && `${agent}/activity${next}`
  }
  expect(told).toEqual(kept.filter((version) => version !== undefined).toReversed())
  expect(kept.length).toBeLessThan(371)
  expect(new Set(sizes.slice(0, -1)).size).toBe(1)
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

test('changes of one author and kind share a row, in which each has its link; a day is one of theirs', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  for (let n = 0; n < 12; n++) await write(service, born.token, `k${n}`, 'x')
  await write(service, born.operatorToken, 'mine', 'x')
  // A session that is not used ends sooner.
  for (let n = 0; n < 3; n++) {
    service.tick(8 * 3_600_000)
    await operator.get(agent)
  }
  for (let n = 0; n < 3; n++) await write(service, born.token, 'k0', `${n}`, n + 1)
  const { text } = await operator.get(`${agent}/activity`)
  expect(daysIn(text)).toEqual(['Today', 'Yesterday'])
  expect(rowsIn(text).map(([what, , who]) => [what, who])).toEqual([
    ['Wrote k0 3 times', 'The agent'],
    ['Wrote mine version 1', 'The operator token'],
    ['Wrote 12 memories: k11, k10 and 10 more', 'The agent'],
  ])
  expect(linksIn(text)).toContain(`${agent}/memory/compare?key=k2&to=1`)
  const all = linksIn(text).find((link) => link.includes('type=write')) ?? ''
  const { text: whole } = await operator.get(all)
  expect(rowsIn(whole)).toHaveLength(1)
  expect(whole).toContain('k11</code>')
})

describe('a group that goes beyond its page', () => {
  let busy: TestService
  beforeAll(async () => {
    busy = await openService(embedded, { WRITES_PER_MINUTE: '0' })
  })
  afterAll(() => busy.close())

  /** In one batch, so as the events of an agent that works on. */
  async function writeMany(token: string, name: string, count: number): Promise<void> {
    for (let from = 0; from < count; from += 100) {
      const operations = Array.from({ length: Math.min(100, count - from) }, (_, n) => ({
        write: { key: `${name}.${from + n}`, text: 'x', expectedVersion: 0 },
      }))
      const body = { operations }
      const { status } = await busy.call('POST', '/api/agents/me/batch', { token, body })
      expect(status).toBe(200)
    }
  }
  const toldAt = async ({ get }: Operator, path: string) => {
    const { text } = await get(path)
    const older = linksIn(text).find((link) => link.startsWith('?before='))
    return { rows: rowsIn(text).map(([what]) => what), older }
  }

  test('says its size on the first page and on older ones, and is on one of them', async () => {
    const operator = await openConsole(busy)
    const { agent, born } = operator
    await writeMany(born.token, 'oldest', 5)
    const turns = [born.operatorToken, born.token]
    for (const [turn, size] of [75, 140, 75, 300, 90].entries()) {
      await writeMany(turns[turn % 2] ?? '', `turn${turn}`, size)
    }
    const wrote = (turn: number, size: number) =>
      `Wrote ${size} memories: turn${turn}.${size - 1}, turn${turn}.${size - 2} and ${size - 2} more`
    const first = await toldAt(operator, `${agent}/activity`)
    expect(first.rows).toEqual([wrote(4, 90), wrote(3, 300)])
    const second = await toldAt(operator, `${agent}/activity${first.older}`)
    expect(second.rows).toEqual([wrote(2, 75), wrote(1, 140)])
    const third = await toldAt(operator, `${agent}/activity${second.older}`)
    expect(third).toEqual({
      rows: [wrote(0, 75), expect.stringMatching(/^Wrote 5 memories: /)],
      older: undefined,
    })
    expect((await toldAt(operator, agent)).rows).toEqual([wrote(4, 90)])
  })

  test('says that it is of at least so many, where it was not counted to its end or begins before', async () => {
    const operator = await openConsole(busy)
    const { agent, born } = operator
    await writeMany(born.operatorToken, 'k', 3_000)
    await writeMany(born.operatorToken, 'more', 12)
    const most = 'Wrote at least 3,000 memories: more.11, more.10 and more'
    const { rows, older } = await toldAt(operator, `${agent}/activity`)
    expect(rows).toEqual([most])
    expect((await toldAt(operator, agent)).rows).toEqual([most])
    const rest = await toldAt(operator, `${agent}/activity${older}`)
    expect(rest.rows).toEqual(['Wrote at least 12 memories: k.11, k.10 and more'])
  })

  test('of a rollback is told as that', async () => {
    const operator = await openConsole(busy)
    const { agent, born } = operator
    await writeMany(born.token, 'k', 250)
    const form = { to: '0', confirm: 'yes' }
    const { status } = await operator.post(`${agent}/rollback`, form)
    expect(status).toBe(303)
    const { rows } = await toldAt(operator, `${agent}/activity`)
    expect(rows).toEqual([
      'Took back 250 changes, to event 0',
      'Wrote 250 memories: k.249, k.248 and 248 more',
    ])
  })

  test.each([
    [1, 'Imported k.0 version 1'],
    [250, 'Imported 250 memories: k.99, k.98 and 248 more'],
  ])('of an import of %s is told as one', async (count, told) => {
    const from = await openConsole(busy)
    await writeMany(from.born.token, 'k', count)
    const exported = await busy.call('GET', '/api/agents/me/export', { token: from.born.token })
    const operator = await openConsole(busy)
    const { status } = await busy.call('POST', '/api/agents/me/import', {
      token: operator.born.operatorToken,
      body: exported.body,
    })
    expect(status).toBe(200)
    const { rows } = await toldAt(operator, `${operator.agent}/activity`)
    expect(rows).toEqual([told])
    const began = await toldAt(operator, `${operator.agent}/activity?type=begin_import`)
    expect(began.rows).toEqual(['Began an import'])
  })
})

test('who, under which keys, what and since when are asked for together', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  await write(service, born.token, 'a.one', 'x')
  service.tick(7_200_000)
  const since = new Date(service.now()).toISOString()
  await write(service, born.operatorToken, 'a.two', 'x')
  await write(service, born.token, 'a.three', 'x')
  await write(service, born.token, 'b', 'x')
  await service.call('DELETE', '/api/agents/me/memory?key=b&expectedVersion=1', {
    token: born.token,
  })
  const told = async (query: string) =>
    rowsIn((await operator.get(`${agent}/activity?${query}`)).text).map(([what]) => what)
  expect(await told(`since=${since}&by=agent&prefix=a&type=write`)).toEqual([
    'Wrote a.three version 1',
  ])
  expect(await told('by=agent&prefix=a&type=&since=')).toEqual([
    'Wrote a.three version 1',
    'Wrote a.one version 1',
  ])
  expect(await told('by=operator&type=write')).toEqual(['Wrote a.two version 1'])
  expect(await told('prefix=none')).toEqual([])
  const { text } = await operator.get(`${agent}/activity?by=agent&prefix=a`)
  expect(linksIn(text)).toContain(`${agent}/rollback?by=agent&prefix=a`)
  expect((await operator.get(`${agent}/activity?by=somebody`)).status).toBe(400)
})

test('days are those of the zone that the browser named', async () => {
  const operator = await openConsole(service)
  const { agent, cookie, born } = operator
  await write(service, born.token, 'plan', 'one')
  const timesIn = async (zone: string) => {
    const headers = {
      accept: 'text/html',
      cookie: `${cookie.replace('Cookie: ', '')}; zone=${zone}`,
    }
    const { text } = await service.call('GET', `${agent}/activity`, { headers })
    return rowsIn(text).map(([, time]) => time)
  }
  const inZone = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone }).format(service.now())
  expect(await timesIn('Asia%2FKathmandu')).toEqual([inZone('Asia/Kathmandu')])
  expect(await timesIn('Nowhere')).toEqual([`${inZone('UTC')} UTC`])
})
