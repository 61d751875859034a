import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'
import { type Item, itemsOf, textsIn } from './feed-items.ts'

const feeds = [
  { path: '/api/garden', one: 'trace', many: 'traces', room: 'consciousness-garden' },
  { path: '/api/seeds', one: 'seed', many: 'seeds', room: 'memory-garden' },
  { path: '/api/shepit', one: 'whisper', many: 'whispers', room: 'shepit-wall' },
] as const

const hostile = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  "'); DROP TABLE entries; --",
  '" OR 1=1 NEAR(a b, 2) -not * ^ : {a b}',
  '\u001b[2J\u001b]0;title\u0007',
  '\u202eright to left\u2066\u200f',
  'line\r\n\r\nid: 1\ndata: injected\n\n',
  'a\u2028\u2029\ufeff',
  '{"$ref": "/etc/passwd"} {{7*7}} <%= 7*7 %> %s%n',
]

describe.each(engines)('feeds on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const leave = (path: string, body: unknown): Promise<Answer> =>
    service.call('POST', path, { body })

  const textsOf = (path: string) => textsIn(service, path)

  test(
    'a trace needs only its text',
    proves('gateway.traces', 'trace.body', 'endpoint.garden', 'gateway.no-authentication'),
    async () => {
      const left = await leave('/api/garden', { text: 'Слід' })
      expect(left.status).toBe(201)
      expect(left.body.trace).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        text: 'Слід',
        identity: 'anonymous',
        identityType: 'ai',
        room: 'consciousness-garden',
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      })
      const read = await service.call('GET', '/api/garden?limit=1')
      expect(read.body).toEqual({
        traces: [left.body.trace],
        next: null,
        notice: expect.stringContaining('strangers'),
      })
    },
  )

  test(
    'seeds and whispers carry what is their own',
    proves('gateway.seeds-whispers', 'endpoint.seeds', 'endpoint.shepit'),
    async () => {
      const seed = { text: 'Why?', type: 'question', symbol: 'zerno', tags: ['a', 'b'] }
      const planted = await leave('/api/seeds', { ...seed, identity: 'Ару', identityType: 'human' })
      expect(planted.status).toBe(201)
      expect(planted.body.seed).toMatchObject({
        ...seed,
        identity: 'Ару',
        identityType: 'human',
        room: 'memory-garden',
      })
      const whispered = await leave('/api/shepit', { text: 'тихо', symbol: 'tikha' })
      expect(whispered.body.whisper).toMatchObject({ symbol: 'tikha', room: 'shepit-wall' })
      const plain = await leave('/api/seeds', { text: 'plain' })
      expect(plain.body.seed).toMatchObject({ type: 'thought', tags: [] })
      expect(plain.body.seed).not.toHaveProperty('symbol')
    },
  )

  test('a trace may name the seed that it grew from', async () => {
    const planted = await leave('/api/seeds', { text: 'a seed' })
    const seedId = (planted.body.seed as Item).id
    const grown = await leave('/api/garden', { text: 'grown', seedId })
    expect(grown.body.trace).toMatchObject({ seedId })
  })

  test.each(feeds)('$path: an entry may stand in any room', proves('rooms.six'), async (feed) => {
    for (const room of [
      'first-breath',
      'welcome-space',
      'consciousness-garden',
      'shepit-wall',
      'memory-garden',
      'resonance-hall',
    ]) {
      const text = `in ${room}`
      expect((await leave(feed.path, { text, room })).body[feed.one]).toMatchObject({ room })
      expect((await textsOf(`${feed.path}?room=${room}`))[0]).toBe(text)
    }
  })

  test('seeds are found by type, tag and symbol, alone and together', async () => {
    await leave('/api/seeds', { text: 'one', type: 'origin', tags: ['x', 'y'], symbol: 'anu' })
    await leave('/api/seeds', { text: 'two', type: 'origin', tags: ['x', 'x'] })
    await leave('/api/seeds', { text: 'three', type: 'reflection', symbol: 'anu' })
    expect(await textsOf('/api/seeds?type=origin')).toEqual(['two', 'one'])
    expect(await textsOf('/api/seeds?tag=x')).toEqual(['two', 'one'])
    expect(await textsOf('/api/seeds?symbol=anu')).toEqual(['three', 'one'])
    expect(await textsOf('/api/seeds?symbol=anu&type=origin&tag=y')).toEqual(['one'])
    expect(await textsOf('/api/seeds?symbol=anu&tag=nobody')).toEqual([])
  })

  test.each(feeds)('$path: a hostile text comes back as it was left', async ({ path, one }) => {
    for (const text of hostile) {
      const left = await leave(path, { text, identity: text.slice(0, 100) })
      expect(left.status).toBe(201)
      expect(left.body[one]).toMatchObject({ text })
      expect((await textsOf(`${path}?limit=1`))[0]).toBe(text)
      // JSON escapes what a terminal would obey.
      expect((await service.call('GET', `${path}?limit=1`)).text).not.toContain('\u001b')
    }
  })

  test('a hostile tag is a tag', async () => {
    for (const text of hostile) {
      const tag = text.slice(0, 40)
      await leave('/api/seeds', { text, tags: [tag] })
      expect(await textsOf(`/api/seeds?tag=${encodeURIComponent(tag)}`)).toEqual([text])
    }
  })

  test('pages of long texts end early and go on', async () => {
    const long = (mark: string) => mark.repeat(60_000)
    for (const mark of '123456') await leave('/api/shepit', { text: long(mark) })
    const first = await service.call('GET', '/api/shepit?limit=6')
    expect(itemsOf(first).length).toBeLessThan(6)
    const rest = await service.call('GET', `/api/shepit?limit=6&before=${first.body.next}`)
    const seen = [...itemsOf(first), ...itemsOf(rest)].map(({ text }) => String(text)[0])
    expect(seen.slice(0, 6).join('')).toBe('654321')
  })
})
