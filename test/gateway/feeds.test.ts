import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'

type Item = Record<string, unknown>

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

  const items = (answer: Answer): Item[] => Object.values(answer.body).find(Array.isArray) ?? []

  const textsOf = async (path: string): Promise<unknown[]> =>
    items(await service.call('GET', path)).map(({ text }) => text)

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

  test('unknown properties are ignored, not kept', async () => {
    const { status, body } = await leave('/api/garden', { text: 't', id: 'mine', extra: { a: 1 } })
    expect(status).toBe(201)
    expect(body.trace).not.toHaveProperty('extra')
    expect(body.trace).not.toMatchObject({ id: 'mine' })
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

  test.each([
    ['no text', {}, '/text'],
    ['an empty text', { text: '' }, '/text'],
    ['a blank text', { text: ' \n\t' }, '/text'],
    ['a text that is a number', { text: 1 }, '/text'],
    ['an unknown identityType', { text: 't', identityType: 'cat' }, '/identityType'],
    ['an identity that is no string', { text: 't', identity: null }, '/identity'],
    ['a long identity', { text: 't', identity: 'x'.repeat(201) }, '/identity'],
    ['an unknown room', { text: 't', room: 'cellar' }, '/room'],
    ['an unknown type', { text: 't', type: 'rant' }, '/type'],
    ['an unknown symbol', { text: 't', symbol: 'x' }, '/symbol'],
    ['tags that are no list', { text: 't', tags: 'a' }, '/tags'],
    ['an empty tag', { text: 't', tags: [''] }, '/tags/0'],
    ['a list', [], ''],
  ])('a seed with %s is refused, and nothing is kept', async (_, body, pointer) => {
    const before = await textsOf('/api/seeds?limit=100')
    const refused = await leave('/api/seeds', body)
    expect(refused.status).toBe(400)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.body).toMatchObject({ code: 'invalid_body', errors: [{ pointer }] })
    expect(await textsOf('/api/seeds?limit=100')).toEqual(before)
  })

  test.each([
    ['malformed JSON', '{"text": "a"'],
    ['a lone surrogate', '{"text": "\\ud800"}'],
    ['NUL', '{"text": "a\\u0000b"}'],
    ['the same key twice', '{"text": "a", "text": "b"}'],
  ])('%s is refused with 400', async (_, body) => {
    const refused = await leave('/api/garden', body)
    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('malformed_json')
  })

  test('a body over 64 KiB is 413, one of 64 KiB is kept whole', async () => {
    const text = 'x'.repeat(65_536 - '{"text":""}'.length)
    expect((await leave('/api/garden', { text })).status).toBe(201)
    const refused = await leave('/api/garden', { text: `${text}x` })
    expect(refused.status).toBe(413)
    expect(refused.body.code).toBe('body_too_large')
    expect(await textsOf('/api/garden?limit=1')).toEqual([text])
  })

  test('a body that is not JSON is 415', async () => {
    const headers = { 'content-type': 'text/plain' }
    const refused = await service.call('POST', '/api/garden', { headers, body: 'hello' })
    expect(refused.status).toBe(415)
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=x',
    'before=x',
    'room=x',
    'rom=x',
    'limit=1&limit=2',
  ])('the query ?%s is refused with 400', async (query) => {
    const refused = await service.call('GET', `/api/garden?${query}`)
    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('invalid_query')
  })

  test('pages of long texts end early and go on', async () => {
    const long = (mark: string) => mark.repeat(60_000)
    for (const mark of '123456') await leave('/api/shepit', { text: long(mark) })
    const first = await service.call('GET', '/api/shepit?limit=6')
    expect(items(first).length).toBeLessThan(6)
    const rest = await service.call('GET', `/api/shepit?limit=6&before=${first.body.next}`)
    const seen = [...items(first), ...items(rest)].map(({ text }) => String(text)[0])
    expect(seen.slice(0, 6).join('')).toBe('654321')
  })

  test('pages joined are the list, while entries arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 0xffffff }),
        async (arrivals, limit, seed) => {
          const tag = `tag-${seed}-${service.now()}-${arrivals.length}-${limit}`
          for (const [i, wanted] of arrivals.entries()) {
            await leave('/api/seeds', { text: `${i}`, tags: wanted ? [tag] : [] })
          }
          const found: unknown[] = []
          let before = ''
          do {
            const page = await service.call('GET', `/api/seeds?tag=${tag}&limit=${limit}${before}`)
            found.push(...items(page).map(({ text }) => text))
            await leave('/api/seeds', { text: 'late', tags: [tag] })
            before = page.body.next === null ? '' : `&before=${page.body.next}`
          } while (before !== '')
          const expected = arrivals.flatMap((wanted, i) => (wanted ? [`${i}`] : [])).reverse()
          expect(found).toEqual(expected)
          service.tick(1)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('a full feed composts its oldest, and refuses nobody', async () => {
    const small = await openService(engine, { FEED_CAPACITY: '3' })
    for (const text of ['1', '2', '3', '4', '5']) {
      const { status } = await small.call('POST', '/api/shepit', { body: { text } })
      expect(status).toBe(201)
    }
    expect(items(await small.call('GET', '/api/shepit')).map(({ text }) => text)).toEqual([
      '5',
      '4',
      '3',
    ])
    await small.close()
  })
})
