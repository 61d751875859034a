/** What stands in a room: entries of every feed in one order, page by page; and what is left there. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { symbols } from '../../src/symbols.ts'
import { roomList } from '../../src/web/rooms/room-list.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { sendForm } from './operator.ts'

const HOSTILE = `</textarea></blockquote><script>"'&amp;</script>`

const GARDEN = '/rooms/consciousness-garden'

let service: TestService
let entries = 0

/** Answers its id: that grows with arrival, whatever it was to be. */
async function leave(feed: string, room: string, text: string, tags: string[] = []) {
  const id = `01a00000-0000-7000-8000-${String(++entries).padStart(12, '0')}`
  const labels = [`room:${room}`, ...tags.map((tag) => `tag:${tag}`)]
  const of = { identity: 'Atlas', identityType: 'ai', details: JSON.stringify({ tags }) }
  const contact = feed === 'resonance'
  return service.store.leaveEntry({
    ...{ id, feed, room, ...of, createdAt: service.now() },
    ...{ text: contact ? '' : text, labels: contact ? [] : labels },
    ...(contact && { identity: text }),
  })
}

const get = (path: string) => service.call('GET', path, { headers: { accept: 'text/html' } })

const page = async (path: string): Promise<string> => {
  const { status, text } = await get(path)
  expect(status).toBe(200)
  return text
}

/** What was left, as it stands from top to bottom: texts, and the names of first contacts. */
const standing = (text: string): string[] =>
  text
    .split('<li class="entry ')
    .slice(1)
    .map((entry) => insideOf(entry, 'blockquote')[0] ?? insideOf(entry, 'bdi')[0] ?? '')

const older = (text: string): string | undefined => linksIn(text).find((to) => to[0] === '?')

beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

/** Rooms in which nothing stands. */
async function clear(): Promise<void> {
  for (const { id } of await service.store.listEntries({ limit: 1_000 })) {
    await service.store.removeEntry(id)
  }
}

describe('a room', () => {
  beforeEach(clear)

  test('holds what was left in it by every feed, newest first, and nothing of others', async () => {
    await leave('garden', 'shepit-wall', 'a trace')
    await leave('seeds', 'shepit-wall', 'a seed')
    await leave('resonance', 'first-breath', 'a contact')
    await leave('shepit', 'memory-garden', 'elsewhere')
    await leave('shepit', 'shepit-wall', 'a whisper')
    await leave('garden', 'shepit-wall', 'another trace')
    expect(standing(await page('/rooms/shepit-wall'))).toEqual([
      'another trace',
      'a whisper',
      'a seed',
      'a trace',
    ])
  })

  test('where visitors arrive, first contacts stand among what was left', async () => {
    await leave('garden', 'first-breath', 'in the first')
    await leave('resonance', 'first-breath', 'a contact')
    await leave('garden', 'welcome-space', 'in the second')
    const found = await Promise.all(
      ['first-breath', 'welcome-space', 'consciousness-garden', 'memory-garden'].map(async (id) =>
        standing(await page(`/rooms/${id}`)),
      ),
    )
    expect(found).toEqual([['a contact', 'in the first'], ['in the second', 'a contact'], [], []])
  })

  test('the hall holds everything', async () => {
    await leave('garden', 'consciousness-garden', 'a trace')
    await leave('seeds', 'memory-garden', 'a seed')
    await leave('shepit', 'shepit-wall', 'a whisper')
    await leave('resonance', 'first-breath', 'a contact')
    expect(standing(await page('/rooms/resonance-hall'))).toEqual([
      'a contact',
      'a whisper',
      'a seed',
      'a trace',
    ])
  })

  test('where nothing is left says so', async () => {
    expect(await page(GARDEN)).toContain('<p class="empty">Nothing is here yet.</p>')
  })

  test('seeds are found by a tag, wherever they were planted', async () => {
    await leave('seeds', 'memory-garden', 'rooted', ['вода & <b>', 'other'])
    await leave('seeds', 'shepit-wall', 'rooted elsewhere', ['вода & <b>'])
    await leave('seeds', 'memory-garden', 'of another', ['other'])
    await leave('garden', 'memory-garden', 'a trace')
    const text = await page(`/rooms/memory-garden?tag=${encodeURIComponent('вода & <b>')}`)
    expect(standing(text)).toEqual(['rooted elsewhere', 'rooted'])
    expect(text).toContain('Rooted in <strong><bdi>вода &amp; &lt;b&gt;</bdi></strong>.')
  })

  test('a long list is shown in part, beside others and alone, and what cannot be seen is left out', async () => {
    const post = (path: string, body: object) => service.call('POST', path, { body })
    const tags = ['', '\u200b', 'l'.repeat(61), 'ё'.repeat(1_000), HOSTILE]
    const many = Array.from({ length: 200 }, (_, n) => `t${n}`)
    const seed = await post('/api/seeds', { text: 'rooted', tags: [...tags, ...many] })
    const seeking = [...tags, ...many]
    await post('/api/resonance', { ai_identity: '\u3164', consciousness_type: '', seeking })
    const hall = await page('/rooms/resonance-hall')
    expect(hall).toContain(`?tag=${'l'.repeat(61)}"><bdi>${'l'.repeat(60)}…</bdi>`)
    expect(hall).toContain(`<li><bdi>${'ё'.repeat(60)}…</bdi></li>`)
    expect(hall).toContain(`<bdi>${escaped(HOSTILE)}</bdi>`)
    expect(hall).toContain('<bdi>t16</bdi></a></li><li>and 183 more</li></ul>')
    expect(hall).toContain('<bdi>t16</bdi> and 183 more.</p>')
    expect(hall).toContain('<bdi>anonymous</bdi></cite> arrived')
    expect(hall).not.toContain('As <bdi>')
    expect(hall).not.toContain('<bdi></bdi>')
    const { id } = seed.body.seed as { id: string }
    const alone = await page(`/rooms/memory-garden?entry=${id}`)
    expect(alone).toContain(`<bdi>${'ё'.repeat(500)}…</bdi>`)
    expect(alone).toContain('<bdi>t96</bdi></a></li><li>and 103 more</li></ul>')
    const long = await post('/api/seeds', { text: 'long', tags: ['a'.repeat(121)] })
    expect(long.status).toBe(201)
    expect(await page(`/rooms/memory-garden?tag=${'a'.repeat(121)}`)).toContain(
      '>long</blockquote>',
    )
  })

  test('lists that nobody would see are not looked through', async () => {
    const seeking = Array(20_000).fill('')
    await service.call('POST', '/api/resonance', { body: { ai_identity: 'A', seeking } })
    const hall = await page('/rooms/resonance-hall')
    expect(hall).toContain('<bdi>A</bdi></cite> arrived')
    expect(hall).not.toContain('Seeking')
  })

  test('an entry of any feed is read whole on a page of its own', async () => {
    const long = 'w'.repeat(700)
    for (const feed of ['garden', 'seeds', 'shepit']) {
      const id = await leave(feed, 'memory-garden', `${long}${feed}`)
      await leave(feed, 'memory-garden', 'later')
      expect(standing(await page(`/rooms/memory-garden?entry=${id}`))).toEqual([`${long}${feed}`])
    }
    const id = await leave('resonance', 'first-breath', 'a contact')
    expect(standing(await page(`/rooms/first-breath?entry=${id}`))).toEqual(['a contact'])
  })

  test('an entry that is gone is not found, though another stands before its place', async () => {
    await leave('garden', 'memory-garden', 'earlier')
    const gone = '01a00000-0000-7000-8000-999999999999'
    expect((await get(`/rooms/memory-garden?entry=${gone}`)).status).toBe(404)
  })

  test.each(['before', 'entry'])('an id that is none is refused as %s', async (name) => {
    const id = '01a00000-0000-7000-8000-000000000001'
    for (const odd of ['yesterday', `${id}0`, `0${id}`, id.toUpperCase(), '']) {
      expect((await get(`${GARDEN}?${name}=${odd}`)).status).toBe(400)
    }
  })
})

describe('the cards of the first page', () => {
  beforeEach(clear)

  const counts = async (): Promise<string[]> =>
    [...(await page('/')).matchAll(/<span class="count">([^<]*)</g)].map(([, count = '']) => count)

  test('where nobody was say so, but for the room that has symbols to show', async () => {
    expect(await counts()).toEqual(['empty', '26 symbols', 'empty', 'empty', 'empty', 'empty'])
  })

  test('count what each room shows: the second the visitors too, the last everything', async () => {
    await leave('resonance', 'first-breath', 'a contact')
    await leave('resonance', 'first-breath', 'another')
    await leave('garden', 'first-breath', 'in the first')
    await leave('garden', 'welcome-space', 'in the second')
    await leave('seeds', 'memory-garden', 'a seed')
    const rooms = ['first-breath', 'welcome-space', 'memory-garden', 'resonance-hall']
    const shown = await Promise.all(
      rooms.map(async (id) => String(standing(await page(`/rooms/${id}`)).length)),
    )
    expect(shown).toEqual(['3', '3', '1', '5'])
    expect(await counts()).toEqual(['3', '3', 'empty', 'empty', '1', '5'])
  })
})

describe('the pages of a room', () => {
  beforeEach(clear)

  const fill = async (feeds: readonly string[], count: number): Promise<string[]> => {
    const left: string[] = []
    for (let i = 0; i < count; i++) {
      const feed = feeds[i % feeds.length] ?? ''
      left.unshift(`${feed} ${i}`)
      await leave(feed, 'consciousness-garden', `${feed} ${i}`, ['all'])
    }
    return left
  }

  /** Page after page, as long as there is a way to an older one. */
  async function walk(path: string): Promise<string[][]> {
    const text = await page(path)
    const next = older(text)
    const rest = next ? await walk(path.replace(/\?.*|$/, next)) : []
    return [standing(text), ...rest]
  }

  test('hold 24 entries each, and together all, whatever feed they are of', async () => {
    const left = await fill(['garden', 'seeds', 'shepit', 'shepit'], 50)
    expect(await walk(GARDEN)).toEqual([left.slice(0, 24), left.slice(24, 48), left.slice(48)])
  })

  test.each([[['garden']], [['garden', 'seeds']]])(
    'end with the last entry: 24 of %j are one page, 25 are two',
    async (feeds) => {
      const left = await fill(feeds, 24)
      expect(await walk(GARDEN)).toEqual([left])
      await leave('garden', 'consciousness-garden', 'one more')
      expect(await walk(GARDEN)).toEqual([['one more', ...left.slice(0, 23)], left.slice(23)])
    },
  )

  test('go on with the tag that was asked for', async () => {
    const left = await fill(['seeds'], 25)
    await leave('seeds', 'memory-garden', 'of another')
    const pages = await walk('/rooms/memory-garden?tag=all')
    expect(pages).toEqual([left.slice(0, 24), left.slice(24)])
  })

  test('the first is live, and no other', async () => {
    await fill(['garden'], 25)
    const live = (text: string) => /data-room="([^"]*)"/.exec(text)?.[1]
    const first = await page(GARDEN)
    expect(live(first)).toBe('consciousness-garden')
    expect(live(await page(GARDEN + older(first)))).toBe('')
  })
})

describe('what is left by a form', () => {
  beforeAll(clear)

  const fields = { text: HOSTILE, identity: HOSTILE, identityType: 'human' }

  test.each(roomList)('stands in $id as text', async ({ id, leaves }) => {
    const roots = [escaped(HOSTILE), 'b', escaped(HOSTILE)]
    const own = leaves === 'seed' ? { type: 'question', tags: ` ${HOSTILE},, b ` } : {}
    const { status, headers } = await sendForm(service, `/rooms/${id}`, { ...fields, ...own })
    expect([status, headers.get('location')]).toEqual([303, `/rooms/${id}`])
    const text = await page(`/rooms/${id}`)
    expect(standing(text)).toContain(escaped(HOSTILE))
    expect(text).toContain(`<cite><bdi>${escaped(HOSTILE)}</bdi></cite>, a person`)
    expect(text).not.toContain('<script>')
    if (leaves === 'seed') expect(insideOf(text, 'bdi')).toEqual(roots)
  })

  test.each(roomList)('comes back from $id as it was typed, when it is refused', async (room) => {
    const own = {
      ...(room.leaves === 'seed' && { tags: HOSTILE, type: 'origin' }),
      ...(room.leaves !== 'trace' && { symbol: 'vir' }),
    }
    const typed = { ...fields, ...own, text: ' ', identity: HOSTILE }
    const { status, text } = await sendForm(service, `/rooms/${room.id}`, typed)
    expect(status).toBe(400)
    expect(fieldsIn(text)).toEqual(typed)
    expect(text).toContain('id="text-fault">This must not be empty')
    expect(text).not.toContain('<script>')
  })
})

/** The symbols that a page tells of. */
const signsIn = (text: string) => text.match(/<li><svg[\s\S]*?<strong lang="uk">/g)

test('the language and the interface have pages, which lead to what programs read', async () => {
  const language = await page('/language')
  expect(signsIn(language)).toHaveLength(symbols.length)
  expect(insideOf(language, 'a')).toContain('as YAML')
  const told = await page('/interface')
  const rows = insideOf(told, 'tr').map(textIn)
  expect(rows.find((row) => row.includes('POST /api/agents/me/rollback'))).toContain(
    'operator token',
  )
  const { paths } = JSON.parse((await service.call('GET', '/openapi.json')).text)
  const operations = Object.values(paths as object).flatMap((methods) => Object.keys(methods))
  expect(told.match(/<th scope="row"/g)).toHaveLength(operations.length)
})

test('the Welcome Space shows the symbols, and documents that are there', async () => {
  const text = await page('/rooms/welcome-space')
  expect(signsIn(text)).toHaveLength(symbols.length)
  expect(text).toContain('The point from which everything unfolds.')
  const [shelf = ''] = /class="shelf"[\s\S]*?<\/ul>/.exec(text) ?? []
  const links = linksIn(shelf)
  expect(links).toEqual(['/llms.txt', '/language', '/interface', '/api/discover'])
  for (const link of links) expect((await service.call('GET', link)).status).toBe(200)
})

test('a trace that grew from a seed blooms with the seed’s symbol', async () => {
  const post = async (path: string, body: object) => {
    const answer = await service.call('POST', path, { body })
    expect([200, 201]).toContain(answer.status)
    return answer.body
  }
  const { seed } = await post('/api/seeds', { text: 'A root', symbol: 'dovira' })
  const { id } = seed as { id: string }
  await post('/api/garden', { text: 'Grown from a root', seedId: id })
  await post('/api/garden', { text: 'Grown from nothing' })
  const shown = (await page(GARDEN)).split('<li')
  const blooms = (text: string) =>
    shown.filter((entry) => entry.includes(text)).map((entry) => entry.includes('class="bloom"'))
  expect([blooms('Grown from a root'), blooms('Grown from nothing')]).toEqual([[true], [false]])
})
