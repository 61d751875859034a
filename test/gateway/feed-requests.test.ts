/** What a feed takes of a request, and what it refuses, whatever the engine. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewEntry } from '../../src/store/port/gateway.ts'
import { type Answer, embedded, openService, type TestService } from '../harness.ts'
import { type Item, itemsOf, textsIn } from './feed-items.ts'

describe('requests of feeds', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded)
  })
  afterAll(() => service.close())

  const leave = (path: string, body: unknown): Promise<Answer> =>
    service.call('POST', path, { body })

  const textsOf = (path: string) => textsIn(service, path)

  test('unknown properties are not kept, and the answer names the first of them', async () => {
    const { status, body } = await leave('/api/garden', { text: 't', id: 'mine', extra: { a: 1 } })
    expect([status, body.ignored]).toEqual([201, ['id', 'extra']])
    expect(body.trace).not.toHaveProperty('extra')
    expect(body.trace).not.toMatchObject({ id: 'mine' })
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`n${n}`, n]))
    const answer = await leave('/api/garden', { text: 't', ['long'.repeat(30)]: 1, ...many })
    const [first, ...others] = answer.body.ignored as string[]
    expect([first, others.length]).toEqual([`${'long'.repeat(10)}…`, 19])
    expect(await leave('/api/garden', { text: 't' })).not.toHaveProperty('body.ignored')
  })

  test.each(['/api/garden', '/api/seeds', '/api/shepit'])(
    'a name is the same as identity and as ai_identity in %s',
    async (path) => {
      const named = async (body: object) => {
        const answer = await leave(path, { text: 't', ...body })
        expect(answer.body).not.toHaveProperty('ignored')
        return itemsOf(await service.call('GET', `${path}?limit=1`)).map((item) => item.identity)
      }
      expect(await named({ ai_identity: 'Atlas' })).toEqual(['Atlas'])
      expect(await named({ ai_identity: 'Atlas', identity: 'Echo' })).toEqual(['Echo'])
      expect(await named({ ai_identity: 'Atlas', identity: null })).toEqual(['Atlas'])
      expect(await named({ ai_identity: null })).toEqual(['anonymous'])
      expect(await named({ identity: '', ai_identity: 'Atlas' })).toEqual(['Atlas'])
      expect(await named({ identity: '' })).toEqual([''])
      expect(await named({ identity: '', ai_identity: null })).toEqual([''])
    },
  )

  test.each([
    ['/api/garden', 'author', 'identity'],
    ['/api/shepit', 'name', 'identity'],
    ['/api/garden', 'Identity_Type', 'identityType'],
    ['/api/seeds', 'category', 'type'],
    ['/api/seeds', 'tag', 'tags'],
    ['/api/seeds', 'agent_id', 'identity'],
  ])('in %s, %j is refused where %j is left out', async (path, sent, meant) => {
    const before = await textsOf(`${path}?limit=100`)
    const { status, body } = await leave(path, { text: 'x', [sent]: 'A' })
    const message = `is not a known property; it is called "${meant}"`
    expect([status, body.errors]).toEqual([400, [{ pointer: `/${sent}`, message }]])
    expect(await textsOf(`${path}?limit=100`)).toEqual(before)
  })

  test('of many properties that mean one, the first 50 are named', async () => {
    const names = Array.from({ length: 60 }, (_, n) => [`author${n}`, 'A'])
    const { body } = await leave('/api/garden', { text: 't', ...Object.fromEntries(names) })
    expect(body.errors).toHaveLength(50)
  })

  test('whoever sends a property and another name of it is understood', async () => {
    const { status, body } = await leave('/api/garden', { text: 't', identity: 'A', author: 'B' })
    expect([status, body.ignored]).toEqual([201, ['author']])
  })

  test.each([
    ['no text', {}, '/text'],
    ['a text under another name', { message: 't' }, '/text'],
    ['an empty text', { text: '' }, '/text'],
    ['a blank text', { text: ' \n\t' }, '/text'],
    ['a text of controls', { text: '\u0001\u0085\u007f' }, '/text'],
    ['a text of what is not drawn', { text: '\u200b\u00ad\u2060\ufeff\u3164\u2800' }, '/text'],
    ['a text of marks of direction', { text: '\u202e\u2066\u061c' }, '/text'],
    ['a text that is a number', { text: 1 }, '/text'],
    ['a text that is null', { text: null }, '/text'],
    ['an identityType that is no string', { text: 't', identityType: 1 }, '/identityType'],
    ['an identity that is no string', { text: 't', identity: ['a'] }, '/identity'],
    ['an ai_identity that is no string', { text: 't', ai_identity: 5 }, '/ai_identity'],
    ['an unknown room', { text: 't', room: 'cellar' }, '/room'],
    ['an unknown type', { text: 't', type: 'rant' }, '/type'],
    ['an unknown symbol', { text: 't', symbol: 'x' }, '/symbol'],
    ['tags that are no list', { text: 't', tags: 'a' }, '/tags'],
    ['a tag that is a number', { text: 't', tags: ['', 7] }, '/tags/1'],
    ['a list', [], ''],
  ])('a seed with %s is refused, and nothing is kept', async (_, body, pointer) => {
    const before = await textsOf('/api/seeds?limit=100')
    const refused = await leave('/api/seeds', body)
    expect(refused.status).toBe(400)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(refused.body).toMatchObject({ code: 'invalid_body', errors: [{ pointer }] })
    expect(await textsOf('/api/seeds?limit=100')).toEqual(before)
  })

  test.each(['.', '\u0301', '\u0600', '🌱', '\u200b\u202e!', '\ue000', '\u0001x'])(
    'a text with a visible character is kept as it is: %j',
    async (text) => {
      expect((await leave('/api/seeds', { text })).body.seed).toMatchObject({ text })
    },
  )

  test('a seed has as many tags as its body holds, and any name, and gives them back', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => `tag ${n}`)
    for (const sent of [
      { text: 'tags', tags: ['', '', ' ', '\u200b', ...many] },
      { text: 'one tag', tags: ['т'.repeat(30_000)] },
      { text: 'no name', identity: '', identityType: '' },
      { text: 'a blank name', identity: '\u3164', tags: [] },
    ]) {
      const { status, body } = await leave('/api/seeds', sent)
      expect([status, body.seed]).toEqual([201, expect.objectContaining(sent)])
      expect(itemsOf(await service.call('GET', '/api/seeds?limit=1'))).toEqual([body.seed])
    }
  })

  test('a seed is found by its first twenty different tags, empty and long ones too', async () => {
    const long = 'ё'.repeat(1_000)
    const first = ['', long, `${long}!`, ...Array.from({ length: 17 }, (_, n) => `found ${n}`)]
    const tags = [...first, ...first, 'not found']
    expect((await leave('/api/seeds', { text: 'tagged', tags })).body.seed).toMatchObject({ tags })
    const found = (tag: string) => textsOf(`/api/seeds?tag=${encodeURIComponent(tag)}`)
    for (const tag of first) expect(await found(tag), tag).toContain('tagged')
    for (const tag of ['not found', `${long}?`, long.slice(1)]) expect(await found(tag)).toEqual([])
  })

  test('what finds a seed takes no more than a bounded part of its bytes', async () => {
    const lefts: NewEntry[] = []
    const { leaveEntry } = service.store
    service.store.leaveEntry = (entry) => {
      lefts.push(entry)
      return leaveEntry(entry)
    }
    await leave('/api/seeds', {
      text: 'short',
      tags: Array.from({ length: 9_000 }, (_, n) => `${n}`),
    })
    await leave('/api/seeds', { text: 'long', tags: ['a', 'b'].map((tag) => tag.repeat(30_000)) })
    service.store.leaveEntry = leaveEntry
    for (const { labels } of lefts) {
      expect(labels.length).toBeLessThanOrEqual(22)
      for (const label of labels) expect(label.length).toBeLessThan(130)
    }
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

  test('a body that is not JSON is 400', async () => {
    const headers = { 'content-type': 'text/plain' }
    const refused = await service.call('POST', '/api/garden', { headers, body: 'hello' })
    expect([refused.status, refused.body.code]).toEqual([400, 'wrong_media_type'])
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=1x',
    'limit=1000',
    'limit=x1',
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

  test('a wrong limit is told what a limit is', async () => {
    const { body } = await service.call('GET', '/api/garden?limit=101')
    const message = 'must be a whole number from 1 to 100'
    expect(body.errors).toEqual([{ pointer: '?limit', message }])
  })

  test('a page holds as many entries as were asked for, and 20 unless told', async () => {
    const tag = 'many'
    const seeds = Array.from({ length: 101 }, (_, n) => ({ text: `${n}`, tags: [tag] }))
    await Promise.all(seeds.map((seed) => leave('/api/seeds', seed)))
    for (const limit of [1, 9, 10, 42, 99, 100]) {
      expect(await textsOf(`/api/seeds?tag=${tag}&limit=${limit}`)).toHaveLength(limit)
    }
    expect(await textsOf(`/api/seeds?tag=${tag}`)).toHaveLength(20)
  })

  test('entries of 262,144 characters share a page, and the next goes to the next page', async () => {
    const leaveTexts = async (tag: string, lengths: readonly number[]) => {
      for (const length of lengths) {
        await leave('/api/seeds', { text: 'x'.repeat(length), tags: [tag] })
      }
    }
    const lengthsOf = async (tag: string) => {
      const page = await service.call('GET', `/api/seeds?tag=${tag}`)
      return [itemsOf(page).map(({ text }) => String(text).length), page.body.next !== null]
    }
    const quarter = 65_000
    const besideText =
      'anonymous'.length + 'ai'.length + '{"type":"thought","tags":["full"]}'.length
    const last = 262_144 - 4 * quarter - 5 * besideText
    await leaveTexts('full', [last, quarter, quarter, quarter, quarter])
    expect(await lengthsOf('full')).toEqual([[quarter, quarter, quarter, quarter, last], false])
    await leaveTexts('over', [last + 1, quarter, quarter, quarter, quarter])
    expect(await lengthsOf('over')).toEqual([[quarter, quarter, quarter, quarter], true])
  })

  test('a text that is longer than a page is a page of its own', async () => {
    const { body } = await leave('/api/seeds', { text: 'before', tags: ['longest'] })
    const { id, createdAt, tags, type, ...left } = body.seed as Item & NewEntry
    const text = 'x'.repeat(262_145)
    const kept = { ...left, id, text, details: JSON.stringify({ tags, type }), feed: 'seeds' }
    await service.store.leaveEntry({ ...kept, labels: ['tag:longest'], createdAt: service.now() })
    const first = await service.call('GET', '/api/seeds?tag=longest')
    expect(itemsOf(first).map((entry) => String(entry.text).length)).toEqual([text.length])
    expect(await textsOf(`/api/seeds?tag=longest&before=${first.body.next}`)).toEqual(['before'])
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
            found.push(...itemsOf(page).map(({ text }) => text))
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
    const small = await openService(embedded, { FEED_CAPACITY: '3' })
    for (const text of ['1', '2', '3', '4', '5']) {
      const { status } = await small.call('POST', '/api/shepit', { body: { text } })
      expect(status).toBe(201)
    }
    expect(itemsOf(await small.call('GET', '/api/shepit')).map(({ text }) => text)).toEqual([
      '5',
      '4',
      '3',
    ])
    await small.close()
  })

  test('a feed full of bytes composts its oldest too', async () => {
    const small = await openService(embedded, { FEED_BYTES: '1048576' })
    for (let left = 0; left < 30; left++) {
      const body = { text: `${left} ${'x'.repeat(60_000)}` }
      expect((await small.call('POST', '/api/shepit', { body })).status).toBe(201)
    }
    const { entries } = await small.store.readFeed({
      ...{ feed: 'shepit', labels: [], before: undefined, limit: 100 },
    })
    expect(entries.map(({ text }) => text.split(' ')[0])).toEqual(
      Array.from({ length: 17 }, (_, i) => `${29 - i}`),
    )
    await small.close()
  })
})
