/** What the console says of the chain of events, and what a browser is given to check it. */

import { verifyExport } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultIn } from '../../src/web/browser/check.ts'
import { told } from '../../src/web/browser/verify.ts'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { nextHash } from '../store/chained.ts'
import { insideOf, linksIn, scriptsIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '9999', EVENTS_PER_AGENT: '60' })
})
afterAll(() => service.close())

interface Event {
  readonly [member: string]: unknown
  readonly id: number
  readonly hash: string
}

type Chained = Omit<Parameters<typeof faultIn>[0], 'events'> & { readonly events: readonly Event[] }

const chainedIn = (page: string): Chained =>
  JSON.parse(/<script type="application\/json" id="chained">(.*?)<\/script>/s.exec(page)?.[1] ?? '')

/** What a browser asks for to check a page. */
async function chainedFor(operator: Operator, page: string): Promise<Chained> {
  const [, address = ''] = / data-chained="(.*?)"/.exec(page) ?? []
  expect(page).not.toContain('application/json')
  const path = `${operator.agent}/activity${address.replace('&amp;', '&')}`
  return chainedIn((await operator.get(path)).text)
}

const factsIn = (page: string): string[] =>
  insideOf(/<dl class="stats chain">.*?<\/dl>/s.exec(page)?.[0] ?? '', 'dd').map((fact) =>
    textIn(fact).replaceAll(/\s+/g, ' ').trim(),
  )

const asAgent = async (path: string, token: string) =>
  (await service.call('GET', `/api/agents/me/${path}`, { token })).body

/** Every page of the activity, newest first. */
async function pagesOf({ agent, get }: Operator): Promise<string[]> {
  const pages: string[] = []
  for (let path: string | undefined = ''; path !== undefined && pages.length < 10; ) {
    const { text } = await get(`${agent}/activity${path}`)
    pages.push(text)
    path = linksIn(text).find((link) => link.startsWith('?before='))
  }
  return pages
}

describe('the activity page', () => {
  test('says since when the history is unbroken, how long it is, and its head', async () => {
    const operator = await openConsole(service)
    const { agent, born } = operator
    const made = new Date(service.now())
    await write(service, born.token, 'plan', 'one')
    service.tick(3 * 3_600_000)
    await write(service, born.token, 'plan', 'two', 1)
    const { head } = await asAgent('head', born.token)
    const { hash } = head as Event
    const { text } = await operator.get(`${agent}/activity`)
    const date = `${made.getUTCDate()} ${made.toLocaleString('en', { month: 'long', timeZone: 'UTC' })}`
    expect(factsIn(text)).toEqual([
      `Its first event ${date} ${made.getUTCFullYear()}`,
      '2 Check those shown',
      '1 Check everything',
      `event 2, ${hash} Copy the head`,
    ])
    const { events } = await asAgent('events', born.token)
    expect(text).toContain(
      `<span class="dim"><time datetime="${(events as Event[])[0]?.createdAt}"`,
    )
    expect(text).toContain(`<code id="head">event 2, ${hash}</code>`)
    expect(text).toMatch(/<button [^>]*data-copies="head" hidden>/)
    expect(text).toMatch(/<button [^>]*data-checks="shown" hidden>/)
    expect(text).toContain(`data-verifies="${agent}/export" hidden>`)
    expect(scriptsIn(text)).toEqual(expect.arrayContaining(['copy', 'check', 'follow']))
  })

  test('names the oldest event that is retained, and gives each page what it needs to be checked', async () => {
    const operator = await openConsole(service)
    const { token, operatorToken } = operator.born
    // In turn, so that no two are alike.
    for (let at = 0; at < 130; at++) {
      await write(service, at % 2 === 0 ? token : operatorToken, 'k', `${at}`, at)
    }
    const { events } = await asAgent('events?limit=1000', token)
    const retained = events as Event[]
    const first = retained[0]?.id ?? 0
    expect(first).toBeGreaterThan(1)
    const pages = await pagesOf(operator)
    expect(pages.length).toBeGreaterThan(1)
    for (const page of pages) {
      const [since, count, , head] = factsIn(page)
      expect(since).toMatch(`Event ${first} `)
      expect(page).toContain(`<span class="dim"><time datetime="${retained[0]?.createdAt}"`)
      expect(count).toBe(`${retained.length} Check those shown`)
      expect(head).toContain(`event 130, ${retained.at(-1)?.hash} `)
    }
    const chained = (
      await Promise.all(pages.map((page) => chainedFor(operator, page)))
    ).toReversed()
    expect(chained.flatMap((page) => page.events)).toEqual(retained)
    for (const page of chained) {
      let { hash } = page.previous
      for (const event of page.events) {
        hash = nextHash(hash, event)
        expect(hash).toBe(event.hash)
      }
      expect(page.previous.id + 1).toBe(page.events[0]?.id)
      expect(page.last.id).toBe(page.events.at(-1)?.id)
      expect(await faultIn(page)).toBeUndefined()
    }
    expect(chained.map(({ last }) => last.hash)).toEqual([
      ...chained.slice(1).map(() => undefined),
      retained.at(-1)?.hash,
    ])
  })

  test('a name in an event ends no data', async () => {
    const operator = await openConsole(service)
    const name = '</script><kept x="1"><!--<script>'
    await service.call('POST', '/api/agents/me/keys/named', {
      token: operator.born.operatorToken,
      body: { name, access: 'write' },
    })
    const { text } = await operator.get(`${operator.agent}/activity?chained`)
    expect(text).not.toContain('<kept')
    const page = chainedIn(text)
    expect(page.events.at(-1)).toMatchObject({ type: 'create_key', namedKey: { name } })
    expect(await faultIn(page)).toBeUndefined()
  })

  test('shows nothing of it to another owner, nor to nobody', async () => {
    const [owner, other] = [await openConsole(service), await openConsole(service)]
    const { hash } = (await asAgent('head', owner.born.token)).head as Event
    const headers = { accept: 'text/html' }
    const nobody = await service.call('GET', `${owner.agent}/activity?chained`, { headers })
    const answers = [await other.get(`${owner.agent}/activity?chained`), nobody]
    expect(answers.map(({ status }) => status)).toEqual([404, 303])
    for (const { text } of answers) {
      expect([factsIn(text), text.includes(hash), text.includes('id="chained"')]).toEqual([
        [],
        false,
        false,
      ])
    }
  })

  test('has nothing to say of a home in which nothing happened', async () => {
    const { get, post } = await openConsole(service)
    const born = await service.birth()
    expect((await post('/console/attach', { token: born.operatorToken })).status).toBe(303)
    const { status, text } = await get(`/console/agents/${born.agentId}/activity?chained`)
    expect([status, factsIn(text), text.includes('data-checks')]).toEqual([200, [], false])
    expect(text).toContain('Nothing happened yet.')
    expect(await faultIn(chainedIn(text))).toBeUndefined()
  })
})

describe('what a browser tells of a whole home that it checked', () => {
  const exportOf = async ({ agent, get }: Operator): Promise<string> =>
    (await get(`${agent}/export`)).text

  const tell = async (file: string) => told(await verifyExport(file))

  test('counts what is there, and says what no kept event proves', async () => {
    const operator = await openConsole(service)
    const { token, operatorToken } = operator.born
    await write(service, token, 'old', 'one')
    expect(await tell(await exportOf(operator))).toEqual({
      isRight: true,
      sentences: [
        '1 event, 1 version and 1 memory checked: each event follows the one before it, and the memories match the events.',
      ],
      faults: [],
    })
    for (let at = 0; at < 130; at++) {
      await write(service, at % 2 === 0 ? token : operatorToken, 'k', `${at}`, at)
    }
    const pruned = await tell(await exportOf(operator))
    expect(pruned).toMatchObject({ isRight: true, faults: [] })
    expect(pruned.sentences).toEqual([
      expect.stringMatching(/^\d+ events, \d+ versions and 2 memories checked: each event follows/),
      expect.stringMatching(
        /^Not proven: 1 of the memories, and that no other memory is missing, because the events up to \d+ were pruned or are older than the chain\.$/,
      ),
      expect.stringMatching(/^Not proven: the texts of \d+ versions?, because no kept event made/),
    ])
    // Then every memory that is there is proven, but not that there was no other.
    const at = '/api/agents/me/memory?key=old'
    await service.call('DELETE', `${at}&expectedVersion=1`, { token })
    const [, missing] = (await tell(await exportOf(operator))).sentences
    expect(missing).toMatch(/^Not proven: that no memory is missing, because the events up to/)
  })

  test('names ten faults, each in a sentence, and counts the others', async () => {
    const operator = await openConsole(service)
    for (let n = 0; n < 12; n++) await write(service, operator.born.token, `k.${n}`, 'text')
    const file = await exportOf(operator)
    const changed = file.replaceAll('"text":"text"', '"text":"test"')
    const { isRight, sentences, faults } = await tell(changed)
    expect([isRight, ...sentences]).toEqual([
      false,
      '12 events and 12 memories checked: 12 faults. The home was altered or damaged.',
    ])
    expect(faults[0]).toBe(
      'k.0, version 1: the text differs from the one that its event committed to.',
    )
    expect(faults.slice(10)).toEqual(['And 2 more.'])
    const broken = file.replace('"key":"k.3"', '"key":"k@3"')
    expect((await tell(broken)).faults).toContain('k@3, version 1: no event mentions a memory.')
    const other = file.replace(/(?<="events":\[\{"id":)1,/, '9,')
    expect((await tell(other)).faults[0]).toMatch(
      /^Event 9: the event differs from the chained one/,
    )
  })
})

describe('the check', () => {
  let sound: Chained
  beforeAll(async () => {
    const { agent, born, get } = await openConsole(service)
    const call = (path: string, token: string, body: unknown) =>
      service.call('POST', `/api/agents/me/${path}`, { token, body })
    const named = { name: 'Ключ “z” \u{1F331} \u2028', access: 'write' }
    const key = String((await call('keys/named', born.operatorToken, named)).body.token)
    await write(service, key, 'plan', 'one')
    const rename = { from: 'plan', to: 'moved', expectedVersion: 1 }
    await call('batch', born.token, { operations: [{ rename }] })
    await call('rollback', born.operatorToken, { to: 1 })
    sound = chainedIn((await get(`${agent}/activity?chained`)).text)
  })

  test('finds nothing where nothing was changed, whatever events hold', async () => {
    expect(sound.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['create_key', 'write', 'rename', 'rollback']),
    )
    expect(await faultIn(sound)).toBeUndefined()
    const reordered = sound.events.map((event) =>
      Object.fromEntries(Object.entries(event).toReversed()),
    )
    expect(await faultIn({ ...sound, events: reordered as unknown as Event[] })).toBeUndefined()
  })

  const changed = (id: number, change: object) => (chained: Chained) => ({
    ...chained,
    events: chained.events.map((event) => (event.id === id ? { ...event, ...change } : event)),
  })

  const without = (id: number) => (chained: Chained) => ({
    ...chained,
    events: chained.events.filter((event) => event.id !== id),
  })

  const not = (id: number) =>
    `Event ${id} does not follow the one before it: it was changed, or an earlier one is missing.`

  const zeros = '0'.repeat(64)

  test.each<[string, (chained: Chained) => Chained, (newest: number) => string]>([
    ['a member', changed(3, { key: 'palm' }), () => not(3)],
    ['a member of a member', changed(2, { namedKey: { id: 'x', name: 'y' } }), () => not(2)],
    ['a member that was not there', changed(3, { from: 'x' }), () => not(3)],
    ['a hash', changed(3, { hash: zeros }), () => not(3)],
    ['no hash', changed(3, { hash: undefined }), () => not(3)],
    ['an event left out', without(3), () => not(4)],
    ['the first event left out', without(1), () => not(2)],
    [
      'which event comes before',
      ({ previous, ...page }) => ({ ...page, previous: { ...previous, id: 1 } }),
      () => not(1),
    ],
    ['what comes before', (page) => ({ ...page, previous: { id: 0, hash: zeros } }), () => not(1)],
    [
      'the newest event left out',
      (page) => without(page.last.id)(page),
      (newest) => `Event ${newest} is missing.`,
    ],
    [
      'the head',
      (page) => ({ ...page, last: { ...page.last, hash: zeros } }),
      (newest) => `The head is not the hash of event ${newest}.`,
    ],
    ['no event', (page) => ({ ...page, events: [] }), () => 'Event 1 is missing.'],
  ])('names the first event that does not fit: %s', async (_, change, words) => {
    expect(await faultIn(change(sound))).toBe(words(sound.last.id))
  })
})
