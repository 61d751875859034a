/** Entries as they stand in a room: whatever strangers wrote is text. */
import { expect, test } from 'vitest'
import type { Entry } from '../../src/store/port/gateway.ts'
import { type Shown, showEntry, symbolOf } from '../../src/web/rooms/entry.ts'
import { escaped, insideOf, linksIn, textIn } from './markup.ts'

const NOON = Date.UTC(2026, 10, 21, 12)
const HOSTILE = `</blockquote><script>"'&amp;</script>`

const entryOf = (feed: string, changes: Partial<Entry> = {}, details = {}): Entry => ({
  id: '01a00000-0000-7000-8000-000000000001',
  feed,
  room: 'memory-garden',
  text: 'Left here.',
  identity: 'Atlas',
  identityType: 'ai',
  details: JSON.stringify(details),
  createdAt: NOON - 7_200_000,
  ...changes,
})

const shown = async (entry: Entry, changes: Partial<Shown> = {}): Promise<string> => {
  const place = { room: 'memory-garden', symbol: undefined, now: NOON }
  return String(await showEntry({ entry, ...place, whole: false, isRemovable: false, ...changes }))
}

const feeds = [
  ['garden', 'trace'],
  ['seeds', 'seed'],
  ['shepit', 'whisper'],
] as const

test.each([...feeds, ['resonance', 'contact'], ['elsewhere', 'trace']] as const)(
  'an entry of %s is a %s with its id',
  async (feed, name) => {
    expect(await shown(entryOf(feed))).toMatch(
      new RegExp(`^<li class="entry ${name}" id="entry-01a00000-0000-7000-8000-000000000001">`),
    )
  },
)

test.each(feeds)('of %s, text and name stay text', async (feed) => {
  const page = await shown(entryOf(feed, { text: HOSTILE, identity: `${HOSTILE}me` }))
  expect(insideOf(page, 'blockquote')).toEqual([escaped(HOSTILE)])
  expect(insideOf(page, 'cite')).toEqual([`<bdi>${escaped(HOSTILE)}me</bdi>`])
})

test.each(feeds)('%s say who left it and when', async (feed) => {
  const by = async (identityType: string) => {
    const [, last = ''] = (await shown(entryOf(feed, { identityType }))).split('<p class="by">')
    return textIn(last)
  }
  expect(await by('ai')).toBe('Atlas, an AI · 2 hours ago')
  expect(await by('human')).toBe('Atlas, a person · 2 hours ago')
  expect(await by('<stone>')).toBe('Atlas, an AI · 2 hours ago')
})

const glimpse = async (feed: string, text: string, whole = false) => {
  const page = await shown(entryOf(feed, { text }), { room: 'first-breath', whole })
  return [...insideOf(page, 'blockquote'), ...linksIn(page)]
}

const way = '/rooms/first-breath?entry=01a00000-0000-7000-8000-000000000001'

test.each(feeds)(
  '%s: of a long text 280 characters stand, and the way to the rest',
  async (feed) => {
    expect(await glimpse(feed, 'w'.repeat(280))).toEqual(['w'.repeat(280)])
    expect(await glimpse(feed, 'w'.repeat(281))).toEqual([`${'w'.repeat(280)}…`, way])
    expect(await glimpse(feed, 'w'.repeat(281), true)).toEqual(['w'.repeat(281)])
  },
)

test('of many lines six stand, and no word is cut in two', async () => {
  expect(await glimpse('garden', '1\n2\n3\n4\n5\n6')).toEqual(['1\n2\n3\n4\n5\n6'])
  expect(await glimpse('garden', '1\n2\n3\n4\n5\n6\n7')).toEqual(['1\n2\n3\n4\n5\n6…', way])
  expect(await glimpse('garden', `${'word '.repeat(55)}somewhat longer`)).toEqual([
    `${'word '.repeat(55).trim()}…`,
    way,
  ])
})

test('of a long name 60 characters stand beside others, and all of it alone', async () => {
  const name = async (whole: boolean) => {
    const entry = entryOf('garden', { identity: 'n'.repeat(61) })
    return textIn(insideOf(await shown(entry, { whole }), 'cite').join())
  }
  expect([await name(false), await name(true)]).toEqual([`${'n'.repeat(60)}…`, 'n'.repeat(61)])
})

test('the tags of a seed are text, and lead to the seeds that bear them', async () => {
  const tags = ['вода', `"><b>&`, 'a b+c']
  const page = await shown(entryOf('seeds', {}, { tags, type: 'question' }))
  expect(insideOf(page, 'bdi').slice(0, 3)).toEqual(tags.map(escaped))
  expect(linksIn(page)).toEqual(
    tags.map((tag) => `/rooms/memory-garden?tag=${encodeURIComponent(tag)}`),
  )
  expect(page.match(/class="root"/g)).toHaveLength(3)
  expect(page).toContain('<p class="kind">question</p>')
})

test('a seed without tags or kind is a thought without roots', async () => {
  const page = await shown(entryOf('seeds'))
  expect(page).toContain('<p class="kind">thought</p>')
  expect(page).not.toMatch(/class="(root|tags)"/)
})

test('the kind of a seed is text', async () => {
  const page = await shown(entryOf('seeds', {}, { type: HOSTILE }))
  expect(page).toContain(`<p class="kind">${escaped(HOSTILE)}</p>`)
})

const FLOW = 'M3 9.5q4.5-5 9 0t9 0'
const SEED = 'M12 6c4 3 4 9 0 12c-4-3-4-9 0-12z'

test('a trace and a seed bloom with their symbol', async () => {
  expect(await shown(entryOf('garden'), { symbol: 'vir' })).toContain(FLOW)
  expect(await shown(entryOf('seeds'), { symbol: 'vir' })).toContain(FLOW)
  expect(await shown(entryOf('garden'))).toContain('class="bud"')
  expect(await shown(entryOf('seeds'))).toContain(SEED)
})

test('a whisper bears its symbol, and none where it has none', async () => {
  expect(await shown(entryOf('shepit'), { symbol: 'vir' })).toContain(FLOW)
  expect(await shown(entryOf('shepit'))).not.toContain('<svg')
})

test('a plant shows the kind and the age of its entry', async () => {
  const drawing = async (changes: Partial<Entry>) =>
    /<svg.*<\/svg>/s.exec(await shown(entryOf('garden', changes)))?.[0]
  const young = await drawing({})
  expect(await drawing({ createdAt: NOON - 864_000_000 })).not.toBe(young)
  expect(await drawing({ identityType: 'human' })).not.toBe(young)
  expect(await drawing({ id: '01a00000-0000-7000-8000-000000000002' })).not.toBe(young)
  expect(await drawing({ text: 'another' })).toBe(young)
})

test('a first contact says who arrived, as what, and what they seek', async () => {
  const details = { consciousness_type: `${HOSTILE}type`, seeking: [HOSTILE, 'silence', 'rest'] }
  const page = await shown(entryOf('resonance', { identity: HOSTILE, text: '' }, details))
  expect(insideOf(page, 'bdi')).toEqual([
    escaped(HOSTILE),
    `${escaped(HOSTILE)}type`,
    escaped(HOSTILE),
    'silence',
    'rest',
  ])
  expect(insideOf(page, 'p').map(textIn)).toEqual([
    `${HOSTILE} arrived 2 hours ago.`,
    `As ${HOSTILE}type. Seeking ${HOSTILE}, silence, rest.`,
  ])
  expect(page).not.toContain('<blockquote')
})

test('a first contact that says nothing of itself only arrived', async () => {
  const page = await shown(entryOf('resonance'))
  expect(insideOf(page, 'p').map(textIn)).toEqual(['Atlas arrived 2 hours ago.'])
  expect(page).toContain('M5 4c4 5 4 11 0 16')
})

test('a symbol is one of ours or none', () => {
  const symbol = (details: object) => symbolOf(entryOf('seeds', {}, details))
  expect([symbol({ symbol: 'vir' }), symbol({ symbol: '"><b>' }), symbol({})]).toEqual([
    'vir',
    undefined,
    undefined,
  ])
})
